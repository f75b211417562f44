"""Machines made of control groups with a quota of processor time, in network namespaces: bench/scaling.

All processes of a machine are in one group. Between machines lies a bridge of their own, over which nothing else
goes; the web is reached over other links. What ran is ended by group.
"""
import os
import signal
import subprocess
import time

PERIOD_US = 10000
V2 = "/sys/fs/cgroup/cgroup.controllers"
UNLIMITED = 0.0


def command(*words):
    subprocess.run(words, check=True, capture_output=True)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


class Group:
    """A control group of version 1 (cpu, cpuacct) or 2."""

    def __init__(self, name):
        if os.path.exists(V2):
            self.folders = ["/sys/fs/cgroup/" + name]
            write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu")
        else:
            self.folders = [f"/sys/fs/cgroup/{kind}/{name}" for kind in ("cpu", "cpuacct")]
        for folder in self.folders:
            os.makedirs(folder, exist_ok=True)
        self.new = len(self.folders) == 1

    def limit(self, processors):
        """processors: how many it may use, such as 0.1; UNLIMITED."""
        quota = int(processors * PERIOD_US)
        if self.new:
            write(self.folders[0] + "/cpu.max", f"{quota or 'max'} {PERIOD_US}")
        else:
            write(self.folders[0] + "/cpu.cfs_period_us", PERIOD_US)
            write(self.folders[0] + "/cpu.cfs_quota_us", quota or -1)

    def used_us(self):
        if self.new:
            return self.counts()["usage_usec"]
        return int(read(self.folders[1] + "/cpuacct.usage")) // 1000

    def counts(self):
        return {name: int(value) for name, value in
                (line.split() for line in read(self.folders[0] + "/cpu.stat").splitlines())}

    def start(self, words, **options):
        """A process in the group from its first instruction on."""
        places = [folder + "/cgroup.procs" for folder in self.folders]
        enter = " && ".join(f"echo $$ >{place}" for place in places)
        return subprocess.Popen(["sh", "-c", f'{enter} && exec "$@"', "sh", *words], **options)

    def processes(self):
        return [int(line) for line in read(self.folders[0] + "/cgroup.procs").split()]

    def used_by_program(self):
        """Microseconds that the threads of each program have used; a program without a name is "other"."""
        used = {}
        for process in self.processes():
            try:
                words = read(f"/proc/{process}/cmdline").split("\0")[0]
                name = os.path.basename(words.split(" ")[0]).removeprefix("quadrille-").rstrip(":") or "other"
                for thread in os.listdir(f"/proc/{process}/task"):
                    ran_ns = int(read(f"/proc/{process}/task/{thread}/schedstat").split()[0])
                    used[name] = used.get(name, 0) + ran_ns // 1000
            except (OSError, ValueError):
                pass  # it has just ended
        return used

    def end(self):
        for _ in range(200):
            left = self.processes()
            if not left:
                break
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        for folder in self.folders:
            try:
                os.rmdir(folder)
            except OSError:
                pass


class Network:
    """The bridge of the machines; the real machine has an address at it, too."""

    def __init__(self, tag, number):
        self.tag, self.net, self.web_net = tag, f"10.{number}.0", f"10.{number + 1}"
        command("ip", "link", "add", tag + "br", "type", "bridge")
        command("ip", "address", "add", self.net + ".254/24", "dev", tag + "br")
        command("ip", "link", "set", tag + "br", "up")
        self.web = self.web_net + ".255.254"  # where all machines reach the web
        command("ip", "address", "add", self.web + "/32", "dev", tag + "br")

    def end(self):
        subprocess.run(["ip", "link", "del", self.tag + "br"], check=False, capture_output=True)


class Machine:
    def __init__(self, network, number):
        self.name = f"{network.tag}m{number}"
        self.address = f"{network.net}.{number}"
        gateway = f"{network.web_net}.{number}.254"
        name = self.name
        command("ip", "netns", "add", name)
        for link, at in (("n", f"{self.address}/24"), ("w", f"{network.web_net}.{number}.1/24")):
            command("ip", "link", "add", name + link, "type", "veth", "peer", "name", "eth" + link, "netns", name)
            command("ip", "-n", name, "address", "add", at, "dev", "eth" + link)
            command("ip", "-n", name, "link", "set", "eth" + link, "up")
            command("ip", "link", "set", name + link, "up")
        command("ip", "link", "set", name + "n", "master", network.tag + "br")
        command("ip", "address", "add", gateway + "/24", "dev", name + "w")
        command("ip", "-n", name, "route", "add", network.web, "via", gateway)
        command("ip", "-n", name, "link", "set", "lo", "up")
        self.group = Group("quadrille-" + name)
        self.process = None

    def start(self, words, **options):
        self.process = self.group.start(["ip", "netns", "exec", self.name, *words], **options)

    def stop(self):
        """In order."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=300)
            self.process = None

    def bytes_sent(self):
        """To other machines, and to who asks how far they are."""
        return int(read(f"/sys/class/net/{self.name}n/statistics/rx_bytes"))

    def end(self):
        self.group.end()
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)


class Watch:
    """What groups used, and whether the real machine had time to spare, between begin and end."""

    def __init__(self, groups, machines):
        self.groups, self.machines = groups, machines

    def look(self):
        ticks = [int(word) for word in read("/proc/stat").split("\n")[0].split()[1:9]]
        counts = [group.counts() for group in self.groups]
        programs = {}
        for group in self.groups:
            for name, used in group.used_by_program().items():
                programs[name] = programs.get(name, 0) + used
        return {"time": time.monotonic(), "programs": programs, "idle": ticks[3] + ticks[4], "ticks": sum(ticks),
                "used": [group.used_us() for group in self.groups],
                "periods": sum(c["nr_periods"] for c in counts), "throttled": sum(c["nr_throttled"] for c in counts),
                "sent": sum(machine.bytes_sent() for machine in self.machines)}
