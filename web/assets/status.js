/* The page of the crawl's status: asks for it again and again, exchanges the parts that live unless somebody is about to
 * use it, and draws rates, queues and growth over the last hour, day or 30 days: what the service kept, then what is seen. */
'use strict';
(() => {
  const PERIOD = 2000, KEPT = 450, STAGES = ['fetch', 'detect', 'transform', 'index', 'extract'];
  const section = document.getElementById('plots'), plots = section.querySelector('.cards');
  const samples = []; /* seen since the page was opened */
  let past = [], shown = samples; /* what the service kept; both */

  const number = (within, name) => {
    const cell = within?.querySelector(`[data-figure="${name}"]`);
    return cell ? Number(cell.dataset.value) : null;
  };
  const take = (live) => {
    const stage = (name, figure) => number(live.querySelector(`[data-stage="${name}"]`), figure);
    samples.push({
      at: Date.now(), quads: number(live, 'quads'), documents: number(live, 'documents'), seen: number(live, 'seen'),
      done: STAGES.map((name) => stage(name, 'done')), ready: STAGES.map((name) => stage(name, 'ready')),
    });
    if (samples.length > KEPT) samples.splice(1, 1); /* the first stays, the picture is of the whole time */
  };
  const load = async (span) => {
    try {
      const kept = await (await fetch(`/status/history?span=${span}`)).json();
      past = kept.samples.map(([at, documents, quads, seen, ...stages]) => ({
        at, documents, quads, seen, done: stages.slice(0, STAGES.length), ready: stages.slice(STAGES.length),
      }));
      for (const button of section.querySelectorAll('[data-span]')) {
        button.setAttribute('aria-pressed', button.dataset.span === span);
      }
      draw();
    } catch { /* without the past there is the present */ }
  };
  /* Since the sample some seconds before, so that the line does not jump. */
  const rates = (value) => shown.flatMap((sample, i) => {
    const before = shown[Math.max(0, i - 3)];
    return i > 0 && value(sample) !== null && value(before) !== null
      ? [[sample.at, Math.max(0, value(sample) - value(before)) / (sample.at - before.at) * 1000]] : [];
  });
  const values = (value) => shown.flatMap((sample) => (value(sample) === null ? [] : [[sample.at, value(sample)]]));
  const plot = (title, names, series) => {
    const box = document.createElement('div'), head = document.createElement('h3');
    const long = shown[shown.length - 1].at - shown[0].at > 86400000;
    const time = (at) => new Date(at)[long ? 'toLocaleDateString' : 'toLocaleTimeString']('en-GB');
    box.className = 'card';
    head.textContent = title;
    box.append(head, views.lines(series.map((points) => ({ points })), { title, width: 460, height: 200, time, from: shown[0].at }));
    if (names.length > 1) box.append(views.legend(names));
    return box;
  };
  const draw = () => {
    shown = [...past.filter((sample) => sample.at < samples[0].at), ...samples];
    section.hidden = shown.length < 2;
    if (section.hidden) return;
    plots.replaceChildren(
      plot('Done a second', STAGES, STAGES.map((_, i) => rates((sample) => sample.done[i]))),
      plot('Waiting', STAGES, STAGES.map((_, i) => values((sample) => sample.ready[i]))),
      plot('Statements in the index', ['statements'], [values((sample) => sample.quads)]),
      plot('Documents and addresses', ['documents with data', 'addresses seen'],
        [values((sample) => sample.documents), values((sample) => sample.seen)]));
  };
  const isInUse = (live) => live.contains(document.activeElement) ||
    (!getSelection().isCollapsed && live.contains(getSelection().anchorNode));
  const ask = async () => {
    try {
      const reply = await fetch('/status', { headers: { Accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
      if (reply.ok && page.getElementById('live')) {
        take(page);
        for (const shown of document.querySelectorAll('.live')) {
          if (!isInUse(shown)) shown.replaceWith(document.adoptNode(page.getElementById(shown.id)));
        }
        draw();
      }
    } catch { /* the service is away; the next time tells */ }
    setTimeout(ask, document.hidden ? 5 * PERIOD : PERIOD);
  };
  take(document);
  section.addEventListener('click', ({ target }) => { if (target.dataset.span) load(target.dataset.span); });
  load('hour');
  setTimeout(ask, PERIOD);
})();
