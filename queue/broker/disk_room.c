#include "queue/broker/disk_room.h"

#include "base/system/log.h"
#include "config/process_state.h"
#include "queue/broker/broker_state.h"

enum { ROOM_CHECK_MS = 1000, FAILURE_PAUSE_MS = 1000 };

static void
stop_intake(const struct broker *broker)
{
    struct reason why;
    const char *folder = broker->options.store.folder;
    const uint64_t disk_free = broker->room.free, least = broker->options.min_free;
    log_error("intake_stopped", "path=%s free=%lu least=%lu do=%s", folder,
              (unsigned long)disk_free, (unsigned long)least,
              "free some room, or lower queue.min_free");
    (void)status_fail(&why, STATUS_FULL,
                      "%s: %lu MiB are free on the disk, less than queue.min_free (%lu MiB)",
                      folder, (unsigned long)(disk_free >> 20), (unsigned long)(least >> 20));
    process_state_wait(WAIT_WRITE, STATUS_FULL, &why);
}

void
broker_check_room(struct broker *broker, uint64_t now_ms, bool busy)
{
    struct disk_room *room = &broker->room;
    struct reason why = {""};
    if (now_ms < room->check_ms && (!busy || now_ms < room->failed_until_ms)) {
        return;
    }
    room->check_ms = now_ms + ROOM_CHECK_MS;
    if (frontier_room(broker->frontier, &room->free, &why) != STATUS_OK) {
        log_warning("room", "reason=%s", why.text);
        return;
    }
    const uint64_t least = broker->options.min_free;
    const bool stop =
        room->free < (room->stopped ? least + least / 16 : least) || now_ms < room->failed_until_ms;
    if (stop && !room->stopped) {
        stop_intake(broker);
    } else if (!stop && room->stopped) {
        log_info("intake_open", "path=%s free=%lu", broker->options.store.folder,
                 (unsigned long)room->free);
        process_state_goes_on(WAIT_WRITE);
    }
    room->stopped = stop;
}

enum status
broker_wait_for_room(struct broker *broker, enum status status, uint64_t now_ms, struct reason *why)
{
    struct disk_room *room = &broker->room;
    if (status != STATUS_FULL || frontier_broken(broker->frontier)) {
        return status;
    }
    log_error("write_failed", "reason=%s", why->text);
    process_state_wait(WAIT_WRITE, status, why);
    room->failed_until_ms = now_ms + FAILURE_PAUSE_MS;
    room->stopped = true;
    room->check_ms = room->failed_until_ms;
    return STATUS_OK;
}

uint64_t
broker_failed_until_ms(const struct broker *broker)
{
    return broker->room.failed_until_ms;
}

bool
broker_takes_in(const struct broker *broker)
{
    return !broker->room.stopped;
}

uint64_t
broker_disk_free(const struct broker *broker)
{
    return broker->room.free;
}
