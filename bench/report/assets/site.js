// Shows a graded cell's details on hover and on focus, and marks its counterpart in print.
"use strict";
(() => {
  const card = document.getElementById("card");
  let shown = null;

  const twins = (cell) =>
    document.querySelectorAll(`[data-key="${CSS.escape(cell.dataset.key)}"]`);

  function heading(cell) {
    const row = cell.closest("tr");
    const table = cell.closest("table");
    const label = row.querySelector("th") ? row.querySelector("th").textContent.trim() : "";
    let above = row;
    let name = label;
    while (!name && above.previousElementSibling) {
      above = above.previousElementSibling;
      name = above.querySelector("th") ? above.querySelector("th").textContent.trim() : "";
    }
    const place = cell.closest("td").cellIndex;
    const last = table.tHead.rows[table.tHead.rows.length - 1];
    const column = last && last.cells[place] ? last.cells[place].textContent.trim() : "";
    return [name, column].filter(Boolean).join(" · ");
  }

  function fill(cell) {
    card.replaceChildren();
    const title = document.createElement("p");
    title.textContent = heading(cell) || "Cell";
    if (cell.dataset.grade) {
      const chip = document.createElement("span");
      chip.className = "chip g" + cell.dataset.grade;
      chip.textContent = cell.dataset.grade;
      title.append(" ", chip);
    }
    const list = document.createElement("dl");
    for (const [name, value] of JSON.parse(cell.dataset.details)) {
      const term = document.createElement("dt");
      const said = document.createElement("dd");
      term.textContent = name;
      said.textContent = value;
      list.append(term, said);
    }
    card.append(title, list);
  }

  function show(cell) {
    hide();
    shown = cell;
    fill(cell);
    card.hidden = false;
    const at = cell.getBoundingClientRect();
    const size = card.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const left = Math.min(Math.max(12, at.left + at.width / 2 - size.width / 2), room - size.width - 12);
    const below = at.bottom + 8 + size.height < window.innerHeight || at.top < size.height + 8;
    card.style.left = `${left + window.scrollX}px`;
    card.style.top = `${(below ? at.bottom + 8 : at.top - size.height - 8) + window.scrollY}px`;
    cell.setAttribute("aria-describedby", "card");
    twins(cell).forEach((one) => one.classList.add("lit"));
  }

  function hide() {
    if (!shown) return;
    twins(shown).forEach((one) => one.classList.remove("lit"));
    shown.removeAttribute("aria-describedby");
    card.hidden = true;
    shown = null;
  }

  const graded = (event) =>
    event.target instanceof Element ? event.target.closest("[data-details]") : null;

  document.addEventListener("mouseover", (event) => {
    const cell = graded(event);
    if (cell) show(cell);
    else if (document.activeElement !== shown) hide();
  });
  document.addEventListener("focusin", (event) => {
    const cell = graded(event);
    if (cell) show(cell);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
})();
