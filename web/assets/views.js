/* Drawings of what tables hold: charts, maps, graphs. They are SVG made of elements, never of markup, so that
 * text from the web stays text. The page of queries and the page of a resource use it. */
'use strict';
const views = (() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const XSD = 'http://www.w3.org/2001/XMLSchema#';
  const NUMERIC = new Set(['integer', 'decimal', 'double', 'float', 'int', 'long', 'short', 'byte', 'nonNegativeInteger',
    'positiveInteger', 'unsignedInt', 'unsignedLong', 'unsignedShort', 'unsignedByte'].map((name) => XSD + name));
  const TEMPORAL = new Set(['dateTime', 'date', 'gYear', 'gYearMonth'].map((name) => XSD + name));

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const text = (words, attributes) => make('text', attributes, words);
  const drawing = (width, height, title) => make('svg',
    { class: 'drawing', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
  const linked = (term, shape) => {
    shape.append(make('title', {}, term.label));
    return term.kind === 'iri' ? make('a', { href: `/resource?uri=${encodeURIComponent(term.value)}` }, shape) : shape;
  };
  const cut = (words, most) => ([...words].length > most ? `${[...words].slice(0, most - 1).join('')}…` : words);

  /* "<iri>", "_:b", "\"text\"@en", 12, true: terms as cells have them. */
  const ESCAPES = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };
  const unescaped = (escaped) => escaped.replace(/\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/gs,
    (_, mark) => (mark.length > 1 ? String.fromCodePoint(parseInt(mark.slice(1), 16)) : ESCAPES[mark] || mark));
  const read = (source) => {
    if (!source) return null;
    if (source[0] === '<') {
      const value = unescaped(source.slice(1, -1));
      const local = value.replace(/[/#]+$/, '').split(/[/#]/).pop();
      return { kind: 'iri', value, label: value, short: local || value, key: source };
    }
    if (source.startsWith('_:')) return { kind: 'blank', value: source, label: source, short: source, key: source };
    const end = source.lastIndexOf('"');
    const value = source[0] === '"' ? unescaped(source.slice(1, end)) : source;
    const datatype = source[0] !== '"' ? XSD + (/^(true|false)$/.test(source) ? 'boolean' : 'decimal')
      : source.startsWith('^^<', end + 1) ? source.slice(end + 4, -1) : '';
    const term = { kind: 'literal', value, label: value, short: value, key: source };
    if (NUMERIC.has(datatype) && value.trim() !== '' && Number.isFinite(Number(value))) term.number = Number(value);
    if (TEMPORAL.has(datatype) && Number.isFinite(Date.parse(value))) term.time = Date.parse(value);
    return term;
  };

  /* Names of columns and rows of terms. */
  const table = (element) => ({
    names: [...element.tHead.rows[0].cells].map((cell) => cell.textContent),
    rows: [...element.tBodies[0].rows].map((row) => [...row.cells].map((cell) => read(cell.dataset.term))),
  });

  /* ---- scales ---- */
  const steps = (low, high, count) => {
    const raw = (high - low || 1) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
    const first = Math.ceil(low / step) * step, found = [];
    for (let n = 0; n <= 2 * count && first + n * step <= high + step / 1e6; n++) { /* a sum may equal the last */
      const at = first + n * step, short = Number(at.toPrecision(12)), place = Math.abs(short - at) < step / 1e6 ? short : at;
      if (place !== found.at(-1)) found.push(place);
    }
    return found;
  };
  const shown = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, notation: 'compact' });

  /* ---- charts ---- */
  const numbersOf = (data) => data.names.map((_, i) => i)
    .filter((i) => data.rows.some((row) => row[i]?.number !== undefined) &&
      data.rows.every((row) => !row[i] || row[i].number !== undefined));
  const chartColumns = (data) => {
    const values = numbersOf(data);
    const times = data.names.map((_, i) => i).filter((i) => data.rows.every((row) => row[i]?.time !== undefined));
    const labels = data.names.map((_, i) => i).filter((i) => !values.includes(i) && data.rows.some((row) => row[i]));
    if (times.length > 0 && values.length > 0) return { x: times[0], values: values.slice(0, 6), lines: true };
    if (labels.length > 0 && values.length > 0) return { x: labels[0], values: values.slice(0, 6), lines: false };
    return values.length > 1 ? { x: values[0], values: values.slice(1, 7), lines: true } : null;
  };
  const legend = (names) => {
    const list = document.createElement('ul');
    list.className = 'legend';
    list.append(...names.map((name, i) => {
      const item = document.createElement('li');
      item.append(make('svg', { viewBox: '0 0 10 10', 'aria-hidden': 'true' }, make('rect', { width: 10, height: 10, class: `s${i % 6}` })), name);
      return item;
    }));
    return list;
  };
  const bars = (data, columns) => {
    const rows = data.rows.slice(0, 60), row_height = 22 * columns.values.length + 8, left = 220, width = 900;
    const high = Math.max(0, ...rows.flatMap((row) => columns.values.map((i) => row[i]?.number ?? 0)));
    const low = Math.min(0, ...rows.flatMap((row) => columns.values.map((i) => row[i]?.number ?? 0)));
    const scale = (value) => left + (value - low) / (high - low || 1) * (width - left - 70);
    const height = rows.length * row_height + 34, svg = drawing(width, height, 'Bar chart');
    for (const at of steps(low, high, 6)) {
      svg.append(make('line', { class: 'grid', x1: scale(at), x2: scale(at), y1: 4, y2: height - 24 }),
        text(shown.format(at), { class: 'soft', x: scale(at), y: height - 8, 'text-anchor': 'middle' }));
    }
    rows.forEach((row, n) => {
      const label = row[columns.x], y = n * row_height + 8;
      if (label) {
        svg.append(linked(label, text(cut(label.short, 30),
          { x: left - 8, y: y + row_height / 2, 'text-anchor': 'end' })));
      }
      columns.values.forEach((i, k) => {
        if (row[i] === null) return;
        const from = scale(Math.min(0, row[i].number)), to = scale(Math.max(0, row[i].number));
        svg.append(make('rect', { class: `s${k % 6}`, x: from, y: y + 22 * k, width: Math.max(1, to - from), height: 18, rx: 2 }),
          text(shown.format(row[i].number), { class: 'soft', x: to + 5, y: y + 22 * k + 13 }));
      });
    });
    return svg;
  };
  const lines = (series, options) => {
    const width = options.width || 900, height = options.height || 320, left = 62, right = 12, bottom = 26, top = 10;
    const points = series.flatMap((one) => one.points);
    const svg = drawing(width, height, options.title || 'Line chart');
    if (points.length === 0) return svg;
    const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
    const x_low = options.from ?? Math.min(...xs), x_high = Math.max(...xs);
    const y_low = Math.min(0, ...ys), y_high = Math.max(...ys, y_low + (y_low === 0 ? 1 : 0));
    const x = (at) => left + (at - x_low) / (x_high - x_low || 1) * (width - left - right);
    const y = (at) => height - bottom - (at - y_low) / (y_high - y_low || 1) * (height - bottom - top);
    for (const at of steps(y_low, y_high, height > 250 ? 5 : 3)) {
      svg.append(make('line', { class: 'grid', x1: left, x2: width - right, y1: y(at), y2: y(at) }),
        text(shown.format(at), { class: 'soft', x: left - 6, y: y(at) + 4, 'text-anchor': 'end' }));
    }
    for (const at of options.time ? [x_low, (x_low + x_high) / 2, x_high] : steps(x_low, x_high, 6)) {
      const words = options.time ? options.time(at) : shown.format(at);
      const anchor = at === x_low ? 'start' : at === x_high ? 'end' : 'middle';
      svg.append(text(words, { class: 'soft', x: x(at), y: height - 8, 'text-anchor': anchor }));
    }
    series.forEach((one, k) => {
      if (one.points.length === 0) return;
      const path = one.points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join('');
      svg.append(make('path', { class: `line s${k % 6}`, d: path, 'fill-opacity': 0 }));
    });
    return svg;
  };
  const chart = (data) => {
    const columns = chartColumns(data), box = document.createElement('div');
    if (columns.values.length > 1 || columns.lines) box.append(legend(columns.values.map((i) => data.names[i])));
    if (!columns.lines) {
      box.append(bars(data, columns));
      return box;
    }
    const place = (term) => term?.time ?? term?.number;
    const series = columns.values.map((i) => ({
      points: data.rows.filter((row) => row[i] && place(row[columns.x]) !== undefined)
        .map((row) => [place(row[columns.x]), row[i].number]).sort((a, b) => a[0] - b[0]),
    }));
    const temporal = data.rows.some((row) => row[columns.x]?.time !== undefined);
    box.append(lines(series, temporal ? { time: (at) => new Date(at).toISOString().slice(0, 16).replace('T', ' ') } : {}));
    return box;
  };

  /* ---- maps: points over a net of degrees; no tiles are loaded from anywhere ---- */
  const POINT = /POINT\s*(?:Z\s*)?\(\s*(-?[\d.]+)\s+(-?[\d.]+)/i;
  const mapColumns = (data) => {
    const find = (pattern) => data.names.findIndex((name, i) => pattern.test(name) && data.rows.some((row) => row[i]));
    const latitude = find(/^lat(itude)?$/i), longitude = find(/^(lon|long|lng|longitude)$/i);
    const point = data.names.findIndex((_, i) => data.rows.some((row) => row[i]?.kind === 'literal' && POINT.test(row[i].value)));
    return (latitude >= 0 && longitude >= 0) || point >= 0 ? { latitude, longitude, point } : null;
  };
  const placesOf = (data) => {
    const columns = mapColumns(data);
    const used = new Set(Object.values(columns));
    return data.rows.map((row) => {
      const match = columns.point >= 0 && row[columns.point] ? POINT.exec(row[columns.point].value) : null;
      const longitude = Number(match ? match[1] : row[columns.longitude]?.value ?? NaN);
      const latitude = Number(match ? match[2] : row[columns.latitude]?.value ?? NaN);
      const others = row.filter((term, i) => term && !used.has(i));
      return { latitude, longitude, thing: others.find((term) => term.kind === 'iri') || null,
        name: (others.find((term) => term.kind === 'literal') || others[0])?.short || '' };
    }).filter((place) => Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180);
  };
  const drawMap = (places) => {
    const width = 900, height = 500;
    const spread = (values, least) => {
      const low = Math.min(...values), high = Math.max(...values), middle = (low + high) / 2;
      const half = Math.max((high - low) / 2 * 1.15, least);
      return [middle - half, middle + half];
    };
    let [south, north] = spread(places.map((place) => place.latitude), 0.5);
    let [west, east] = spread(places.map((place) => place.longitude), 0.5);
    const shrink = Math.max(0.2, Math.cos((south + north) / 2 * Math.PI / 180)); /* of a degree of longitude */
    const ratio = (east - west) * shrink / (north - south) / (width / height);
    if (ratio < 1) {
      const half = (east - west) / ratio / 2, middle = (east + west) / 2;
      [west, east] = [middle - half, middle + half];
    } else {
      const half = (north - south) * ratio / 2, middle = (north + south) / 2;
      [south, north] = [middle - half, middle + half];
    }
    const x = (longitude) => (longitude - west) / (east - west) * width;
    const y = (latitude) => (north - latitude) / (north - south) * height;
    const svg = drawing(width, height, `Map with ${places.length} places`);
    const degrees = (at, signs) => `${Number(Math.abs(at).toFixed(4))}°${at === 0 ? '' : at > 0 ? signs[0] : signs[1]}`;
    for (const at of steps(Math.max(west, -180), Math.min(east, 180), 8)) {
      svg.append(make('line', { class: 'grid', x1: x(at), x2: x(at), y1: 0, y2: height }),
        text(degrees(at, 'EW'), { class: 'soft', x: x(at) + 3, y: height - 5 }));
    }
    for (const at of steps(Math.max(south, -90), Math.min(north, 90), 6)) {
      svg.append(make('line', { class: 'grid', x1: 0, x2: width, y1: y(at), y2: y(at) }),
        text(degrees(at, 'NS'), { class: 'soft', x: 3, y: y(at) - 3 }));
    }
    for (const place of places) {
      const dot = make('circle', { class: 's0', cx: x(place.longitude), cy: y(place.latitude), r: 5, 'fill-opacity': 0.75 });
      const label = place.name || `${place.latitude}, ${place.longitude}`;
      svg.append(linked(place.thing ? { ...place.thing, label } : { kind: 'literal', label }, dot));
      if (places.length <= 60 && place.name) {
        const right = x(place.longitude) > width * 0.8;
        svg.append(text(cut(place.name, 28), { x: x(place.longitude) + (right ? -9 : 9), y: y(place.latitude) + 4,
          'text-anchor': right ? 'end' : 'start' }));
      }
    }
    return svg;
  };
  const map = (data) => drawMap(placesOf(data));

  /* ---- graphs: rows are edges from the first to the last resource of three or two columns ---- */
  const GRAPH_EDGES = 300;
  const graphColumns = (data) => {
    const column = (name) => data.names.findIndex((other) => name.test(other));
    const triple = [column(/^(s|subject)$/i), column(/^(p|predicate|property)$/i), column(/^(o|object)$/i)];
    if (triple.every((i) => i >= 0)) return { from: triple[0], by: triple[1], to: triple[2] };
    const things = data.names.map((_, i) => i).filter((i) => data.rows.some((row) => row[i]) &&
      data.rows.every((row) => !row[i] || row[i].kind !== 'literal'));
    if (things.length < 2) return null;
    return things.length === 2 ? { from: things[0], by: -1, to: things[1] } : { from: things[0], by: things[1], to: things[2] };
  };
  const settle = (nodes, edges, width, height) => {
    const ideal = Math.sqrt(width * height / nodes.length) * 0.75;
    nodes.forEach((node, i) => { /* a spiral, so that the drawing is the same each time */
      const angle = i * 2.39996, radius = 14 * Math.sqrt(i);
      node.x = width / 2 + radius * Math.cos(angle);
      node.y = height / 2 + radius * Math.sin(angle);
    });
    for (let round = 0, heat = width / 8; round < 220; round++, heat *= 0.975) {
      for (const node of nodes) { node.dx = (width / 2 - node.x) * 0.05; node.dy = (height / 2 - node.y) * 0.08; }
      for (let i = 0; i < nodes.length; i++) {
        for (let k = i + 1; k < nodes.length; k++) {
          const a = nodes[i], b = nodes[k], dx = a.x - b.x || 0.1, dy = a.y - b.y || 0.1;
          const force = ideal * ideal / Math.max(dx * dx + dy * dy, 1);
          a.dx += dx * force; a.dy += dy * force; b.dx -= dx * force; b.dy -= dy * force;
        }
      }
      for (const { from, to } of edges) {
        const dx = to.x - from.x, dy = to.y - from.y, pull = Math.hypot(dx, dy) / ideal;
        from.dx += dx * pull; from.dy += dy * pull; to.dx -= dx * pull; to.dy -= dy * pull;
      }
      for (const node of nodes) {
        const length = Math.hypot(node.dx, node.dy) || 1, step = Math.min(length, heat);
        node.x += node.dx / length * step;
        node.y += node.dy / length * step;
      }
    }
    const fit = (axis, from, to) => { /* into the drawing, with room for names */
      const low = Math.min(...nodes.map((node) => node[axis])), high = Math.max(...nodes.map((node) => node[axis]));
      for (const node of nodes) node[axis] = high > low ? from + (node[axis] - low) / (high - low) * (to - from) : (from + to) / 2;
    };
    fit('x', 60, width - 60);
    fit('y', 18, height - 18);
  };
  const graph = (data) => {
    const columns = graphColumns(data), nodes = new Map(), edges = [], width = 900;
    const node = (term) => {
      if (!nodes.has(term.key)) nodes.set(term.key, { term });
      return nodes.get(term.key);
    };
    for (const row of data.rows.slice(0, GRAPH_EDGES)) {
      if (row[columns.from] && row[columns.to]) {
        edges.push({ from: node(row[columns.from]), to: node(row[columns.to]), by: columns.by >= 0 ? row[columns.by] : null });
      }
    }
    const list = [...nodes.values()], height = Math.min(900, Math.max(360, 60 * Math.sqrt(list.length) + 240));
    settle(list, edges, width, height);
    const svg = drawing(width, height, `Graph of ${list.length} things and ${edges.length} statements`);
    for (const { from, to, by } of edges) {
      const line = make('line', { class: 'edge', x1: from.x, y1: from.y, x2: to.x, y2: to.y });
      if (by) line.append(make('title', {}, by.label));
      svg.append(line);
      if (by && edges.length <= 40) {
        svg.append(text(cut(by.short, 18), { class: 'soft', x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, 'text-anchor': 'middle' }));
      }
    }
    for (const { term, x, y } of list) {
      const group = make('g', { class: `node ${term.kind}` }, make('circle', { cx: x, cy: y, r: 6 }));
      if (list.length <= 80) {
        const left = x > width * 0.75;
        group.append(text(cut(term.short, 22), { x: x + (left ? -9 : 9), y: y + 4, 'text-anchor': left ? 'end' : 'start' }));
      }
      svg.append(linked(term, group));
    }
    const box = document.createElement('div');
    box.append(svg);
    if (data.rows.length > GRAPH_EDGES) {
      const note = document.createElement('p');
      note.className = 'where';
      note.textContent = `Of the first ${GRAPH_EDGES} rows.`;
      box.append(note);
    }
    return box;
  };

  return {
    table, lines, legend,
    kinds: {
      chart: { title: 'Chart', fits: (data) => data.rows.length > 0 && chartColumns(data) !== null, draw: chart },
      map: { title: 'Map', fits: (data) => mapColumns(data) !== null && placesOf(data).length > 0, draw: map },
      graph: { title: 'Graph', fits: (data) => data.rows.length > 0 && graphColumns(data) !== null, draw: graph },
    },
    place: (latitude, longitude) => drawMap([{ latitude, longitude, thing: null, name: '' }]),
  };
})();

/* The page of a resource that has coordinates. */
{
  const place = document.getElementById('place');
  if (place) place.append(views.place(Number(place.dataset.latitude), Number(place.dataset.longitude)));
}
