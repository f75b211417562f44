/* The page of queries: an editor that completes prefixes, predicates, classes and variables, where CodeMirror is
 * installed; the answer as table, chart, map or graph; the address that others can be sent. Without scripts the form
 * works as it is. */
'use strict';
(() => {
  const field = document.getElementById('query'), form = document.getElementById('query-form');
  const told = document.getElementById('told');

  /* ---- completion ---- */
  const KEYWORDS = ('SELECT DISTINCT REDUCED CONSTRUCT DESCRIBE ASK WHERE FROM NAMED GRAPH OPTIONAL UNION MINUS FILTER EXISTS ' +
    'BIND VALUES SERVICE GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT AS PREFIX ' +
    'BASE REGEX CONTAINS STRSTARTS STRENDS LANG LANGMATCHES DATATYPE STR BOUND isIRI isLiteral isBlank IF COALESCE').split(' ');
  let known = null;
  const load = async (part) => {
    const reply = await fetch(`/sparql/terms${part ? `?q=${encodeURIComponent(part)}` : ''}`);
    if (!reply.ok) throw new Error(reply.statusText);
    return reply.json();
  };
  const shortened = (iri, prefixes) => {
    for (const [prefix, space] of Object.entries(prefixes)) {
      if (iri.startsWith(space) && /^[A-Za-z0-9_][\w-]*$/.test(iri.slice(space.length))) return `${prefix}:${iri.slice(space.length)}`;
    }
    return `<${iri}>`;
  };
  /* What a query declares itself goes before. */
  const declared = (query) => Object.fromEntries([...query.matchAll(/\bPREFIX\s+([\w-]*):\s*<([^>]*)>/gi)].map((match) => [match[1], match[2]]));
  const complete = async (query, before, word) => {
    known ??= await load('');
    const wanted = word.toLowerCase(), found = [];
    const prefixes = { ...known.prefixes, ...declared(query) };
    if (word.startsWith('?') || word.startsWith('$')) {
      const names = new Set(query.match(/[?$]\w+/g) || []);
      return [...names].filter((name) => name !== word && name.startsWith(word)).map((name) => ({ text: name }));
    }
    const class_place = /(^|[\s;{.])(a|rdf:type)\s+$/.test(before);
    const part = word.replace(/^</, '').split(':').pop();
    let terms = known;
    if (part.length >= 2 && (class_place ? known.classes : known.predicates).more) terms = await load(part);
    const kinds = class_place ? ['classes', 'predicates'] : ['predicates', 'classes'];
    for (const kind of kinds) {
      for (const [iri, count] of terms[kind].terms) {
        const name = shortened(iri, prefixes), local = name.slice(name.indexOf(':') + 1).toLowerCase();
        if (name.toLowerCase().startsWith(wanted) || local.startsWith(wanted) || iri.toLowerCase().startsWith(part.toLowerCase() || '\0')) {
          found.push({ text: name, displayText: `${name}   ${count.toLocaleString('en')}${kind === 'classes' ? ' (class)' : ''}` });
        }
        if (found.length >= 40) return found;
      }
    }
    for (const prefix of Object.keys(prefixes)) {
      if (word && prefix.startsWith(wanted)) found.push({ text: `${prefix}:`, displayText: `${prefix}:   ${prefixes[prefix]}` });
    }
    for (const keyword of KEYWORDS) {
      if (word && keyword.toLowerCase().startsWith(wanted)) found.push({ text: keyword });
    }
    return found.slice(0, 60);
  };

  /* ---- the editor ---- */
  const edit = () => {
    const editor = CodeMirror.fromTextArea(field, {
      mode: 'application/sparql-query', lineNumbers: true, matchBrackets: true, lineWrapping: true, inputStyle: 'contenteditable',
      viewportMargin: Infinity, extraKeys: {
        'Ctrl-Space': () => hint(false), 'Ctrl-Enter': () => form.requestSubmit(), 'Cmd-Enter': () => form.requestSubmit(),
        Tab: false, 'Shift-Tab': false, /* the keyboard goes on to the button */
      },
    });
    editor.getInputField().setAttribute('aria-label', 'Query in SPARQL; Control and space complete a word');
    const hint = (typed) => editor.showHint({
      completeSingle: false, closeOnUnfocus: true,
      hint: Object.assign((_, give) => {
        const cursor = editor.getCursor(), line = editor.getLine(cursor.line);
        const word = /[?$<]?[\w:./#%~-]*$/.exec(line.slice(0, cursor.ch))[0];
        const from = { line: cursor.line, ch: cursor.ch - word.length };
        if (typed && word.length < 2) { give(null); return; }
        complete(editor.getValue(), editor.getRange({ line: 0, ch: 0 }, from), word)
          .then((list) => give({ list: list.filter((item) => item.text !== word), from, to: cursor }), () => give(null));
      }, { async: true }),
    });
    editor.on('inputRead', (_, change) => {
      if (/[\w:?]/.test(change.text.join(''))) hint(true);
    });
    form.addEventListener('submit', () => editor.save());
    field.required = false; /* it is not seen, so a browser could not point at it */
  };
  if (typeof CodeMirror !== 'undefined') edit();
  else {
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }

  /* ---- the answer ---- */
  const rows = document.getElementById('rows'), box = document.getElementById('view');
  const share = document.getElementById('share');
  const show = (kind, data, tabs) => {
    const address = new URL(location.href);
    document.getElementById('view-table').hidden = kind !== 'table';
    box.hidden = kind === 'table';
    if (kind !== 'table') box.replaceChildren(views.kinds[kind].draw(data));
    for (const tab of tabs.children) tab.setAttribute('aria-selected', String(tab.dataset.kind === kind));
    if (kind === 'table') address.searchParams.delete('view');
    else address.searchParams.set('view', kind);
    history.replaceState(null, '', address);
  };
  if (rows) {
    const data = views.table(rows), tabs = document.getElementById('tabs');
    const kinds = Object.entries(views.kinds).filter(([, view]) => view.fits(data));
    tabs.setAttribute('role', 'tablist');
    for (const [kind, title] of [['table', 'Table'], ...kinds.map(([name, view]) => [name, view.title])]) {
      const tab = document.createElement('button');
      Object.assign(tab, { type: 'button', className: 'plain', textContent: title });
      tab.dataset.kind = kind;
      tab.setAttribute('role', 'tab');
      tab.addEventListener('click', () => show(kind, data, tabs));
      tabs.append(tab);
    }
    tabs.hidden = kinds.length === 0;
    const wanted = new URL(location.href).searchParams.get('view');
    show(kinds.some(([name]) => name === wanted) ? wanted : 'table', data, tabs);
  }
  if (rows && navigator.clipboard) {
    share.hidden = false;
    share.addEventListener('click', async () => {
      await navigator.clipboard.writeText(location.href);
      told.textContent = 'The address of this query and answer is copied.';
    });
  }
  form.addEventListener('submit', () => { told.textContent = 'It runs…'; });
})();
