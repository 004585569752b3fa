// Comfort only: without this script the page is whole and in order.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Contents: open beside the text, folded above it.
  const contents = document.querySelector("nav details");
  const wide = matchMedia("(min-width: 78rem)");
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
  const links = new Map(all("a", contents).map((link) => [link.hash.slice(1), link]));
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && !wide.matches) contents.open = false;
  });

  // Long tables: folded, unless one holds what the address names; open on paper.
  const named = document.getElementById(location.hash.slice(1));
  const tables = all("details.fold");
  const folded = (closed) => { for (const it of tables) it.open = !closed || (named && it.contains(named)); };
  folded(true);
  addEventListener("beforeprint", () => folded(false));

  // The current place: the last one that begins above a third of the window.
  const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  let current = null;
  const mark = () => {
    const line = innerHeight / 3;
    const ended = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const place = ended ? places.at(-1) : places.filter((it) => it.getBoundingClientRect().top < line).at(-1);
    const link = place && links.get(place.id);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    current = link;
  };
  let due = 0;
  addEventListener("scroll", () => {
    due ||= requestAnimationFrame(() => { due = 0; mark(); });
  }, { passive: true });
  mark();

  // What is done to a table is told to those who do not see it.
  const told = make("p", { className: "unseen", role: "status" });
  document.body.append(told);

  // Sorting: up, down, as printed. What has no value stays last.
  const words = new Intl.Collator("en", { numeric: true });
  const key = (row, column) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
  const compare = (a, b) => (a !== "" && b !== "" && !isNaN(a) && !isNaN(b) ? a - b : words.compare(a, b));
  for (const table of all("table")) {
    const body = table.tBodies[0];
    const printed = [...body.rows];
    if (printed.length < 2) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const label = head.firstChild;
      const button = make("button", { type: "button" }, label.textContent.trim());
      label.replaceWith(button, " ");
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: null }[head.ariaSort] ?? (head.ariaSort ? null : "ascending");
        heads.forEach((it) => it.removeAttribute("aria-sort"));
        let rows = printed;
        if (order) {
          head.setAttribute("aria-sort", order);
          const sign = order === "ascending" ? 1 : -1;
          rows = [...printed].sort((a, b) => {
            const [x, y] = [key(a, column), key(b, column)];
            return x === "" || y === "" ? (x === "") - (y === "") : sign * compare(x, y);
          });
        }
        body.append(...rows);
        told.textContent = order ? `Sorted by ${button.textContent}, ${order}.` : "In the order printed.";
      });
    });
    if (printed.length > 12) filter(table.closest(".scroll"), printed, "Filter rows");
  }

  // Filtering: every word typed must stand in the row.
  function filter(place, rows, label, groups = []) {
    const count = make("output", {});
    const input = make("input", { type: "search", autocomplete: "off" });
    const texts = rows.map((row) => `${row.textContent} ${row.firstElementChild.title}`.toLowerCase());
    input.addEventListener("input", () => {
      const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, index) => { row.hidden = !asked.every((word) => texts[index].includes(word)); });
      groups.forEach((group) => { group.hidden = !group.querySelector("dl > div:not([hidden])"); });
      count.textContent = asked.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
    });
    place.before(make("div", { className: "filter" }, make("label", {}, label, input), count));
  }
  // Every figure of a table opens what it is computed from: by a click, or by Enter. Of a table one figure takes part in the order
  // of the Tab key; the arrow keys lead from it to the others.
  const parts = Number(document.querySelector("main").dataset.rows);
  const home = (source) => {
    if (source.startsWith("provenance:")) return "#provenance";
    if (source.startsWith("file:")) return "#files";
    const row = /^(?:parameter:)?([0-9a-f]{12})[./]/.exec(source)?.[1];
    const part = row ? Math.floor(parseInt(row.slice(0, 2), 16) * parts / 256) : 0;
    const name = parts > 1 ? `rows-${part}.html` : "rows.html";
    return `dossier_files/${name}#${row ?? encodeURIComponent(source.split(/\s+/).join("_"))}`;
  };
  for (const table of parts ? all("table") : []) {
    const figures = all("data", table);
    figures.forEach((it, index) => { it.setAttribute("role", "link"); it.tabIndex = index ? -1 : 0; });
    table.addEventListener("click", (event) => {
      const figure = event.target.closest("data");
      if (figure && getSelection().isCollapsed) location.href = home(figure.dataset.source);
    });
    table.addEventListener("keydown", (event) => {
      const figure = event.target.closest("data");
      if (!figure) return;
      if (event.key === "Enter") location.href = home(figure.dataset.source);
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      const cell = figure.closest("td, th");
      const place = all("data", cell).indexOf(figure);
      const above = () => all("tbody tr:not([hidden])", table).map((it) => all("data", it.cells[cell.cellIndex])[place]);
      const line = event.key.endsWith("t") ? all("data", cell.parentElement) : above().filter(Boolean);
      const next = line[line.indexOf(figure) + step];
      if (!next) return;
      event.preventDefault();
      figure.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  const facts = document.querySelector(".facts");
  filter(facts, all("dl > div", facts), "Find a fact", all(".group", facts));
})();
