/* Every page: marks where one is in the navigation, and completes words in fields for words (data-suggest). */
'use strict';
(() => {
  for (const link of document.querySelectorAll('header.site nav a')) {
    if (link.pathname === location.pathname) link.setAttribute('aria-current', 'page');
  }

  let lists = 0;
  const suggest = (field) => {
    const list = document.createElement('ul');
    let items = [], chosen = -1, timer = 0, asked = 0;
    list.className = 'suggestions';
    list.id = `suggestions-${lists++}`;
    list.hidden = true;
    list.setAttribute('role', 'listbox');
    field.after(list);
    for (const [name, value] of [['role', 'combobox'], ['aria-autocomplete', 'list'], ['aria-controls', list.id],
      ['aria-expanded', 'false']]) field.setAttribute(name, value);

    const close = () => {
      list.hidden = true;
      chosen = -1;
      field.setAttribute('aria-expanded', 'false');
      field.removeAttribute('aria-activedescendant');
    };
    const choose = (at) => {
      chosen = at;
      [...list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === at)));
      if (at >= 0) field.setAttribute('aria-activedescendant', list.children[at].id);
      else field.removeAttribute('aria-activedescendant');
    };
    const take = (at) => {
      field.value = items[at];
      close();
      field.form.requestSubmit();
    };
    const show = (words) => {
      const kept = chosen >= 0 ? words.indexOf(items[chosen]) : -1; /* what somebody is about to take stays chosen */
      items = words;
      list.replaceChildren(...words.map((word, i) => {
        const item = document.createElement('li');
        item.textContent = word;
        item.id = `${list.id}-${i}`;
        item.setAttribute('role', 'option');
        item.addEventListener('pointerdown', (event) => { event.preventDefault(); take(i); });
        return item;
      }));
      choose(kept);
      list.hidden = words.length === 0;
      field.setAttribute('aria-expanded', String(!list.hidden));
    };
    const ask = async () => {
      const words = field.value, mine = ++asked;
      if (words.trim().length < 2) { close(); return; }
      try {
        const reply = await fetch(`/suggest?q=${encodeURIComponent(words)}`);
        if (!reply.ok || mine !== asked || document.activeElement !== field) return;
        const found = await reply.json();
        if (mine === asked) show(found[1].filter((word) => word !== words).slice(0, 8));
      } catch { close(); } /* the field works without */
    };
    field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
    field.addEventListener('blur', () => { asked++; close(); });
    field.addEventListener('keydown', (event) => {
      if (list.hidden) return;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : -1, places = items.length + 1;
        choose((chosen + 1 + step + places) % places - 1);
        event.preventDefault();
      } else if (event.key === 'Enter' && chosen >= 0) {
        event.preventDefault();
        take(chosen);
      } else if (event.key === 'Escape') {
        close();
      }
    });
  };
  document.querySelectorAll('input[data-suggest]').forEach(suggest);
})();
