// Large tables: sort by any column, filter by a word or by whether a column has a value. Without this script the table is
// complete, in its original order.
"use strict";
(() => {
  const number = new Intl.Collator("en", { numeric: true });
  const empty = (cell) => /^[–\s]*$/.test(cell.textContent);

  function filterOf(table, rows) {
    const bar = document.createElement("p");
    bar.className = "sorting";
    const label = document.createElement("label");
    label.textContent = "Filter ";
    const input = document.createElement("input");
    input.type = "search";
    input.autocomplete = "off";
    label.append(input);
    const shown = document.createElement("span");
    shown.setAttribute("role", "status");
    bar.append(label, " ", shown);
    table.closest(".table, figure, div")?.before(bar);
    const wanted = [];
    function apply() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const text = row.cells[0].textContent.toLowerCase();
        const fits = words.every((word) => text.includes(word)) &&
          wanted.every((want, at) => !want || (want === "has") !== empty(row.cells[at]));
        row.hidden = !fits;
        count += fits;
      }
      shown.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    }
    input.addEventListener("input", apply);
    apply();
    return (at, want) => { wanted[at] = want; apply(); };
  }

  function sortBy(table, rows, head, at) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const key = (row) => (empty(row.cells[at]) ? "\uffff" : row.cells[at].textContent);
    rows.sort((one, other) => sign * number.compare(key(one), key(other)) ||
      number.compare(one.cells[0].textContent, other.cells[0].textContent));
    table.tBodies[0].append(...rows);
  }

  function choiceOf(title, set) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", `${title}: which rows`);
    for (const [value, text] of [["", "all"], ["has", "has"], ["not", "has none"]]) select.add(new Option(text, value));
    select.addEventListener("change", () => set(select.value));
    return select;
  }

  for (const table of document.querySelectorAll("table.sorts")) {
    const rows = [...table.tBodies[0].rows];
    const set = filterOf(table, rows);
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortBy(table, rows, head, at));
      head.append(button);
      if (at) head.append(choiceOf(button.textContent, (want) => set(at, want)));
    });
  }
})();
