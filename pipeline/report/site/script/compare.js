/* Number by number: only the rows in which this run differs from another by so many points. */
function compare() {
  for (const host of document.querySelectorAll(".differ")) {
    const table = host.parentElement.querySelector("table"), rows = [...table.tBodies[0].rows];
    const [select, least, said] = ["select", "input", "output"].map((kind) => host.querySelector(kind));
    options(select, [...table.tHead.rows[0].cells].slice(4).map((cell) => cell.textContent));
    function show() {
      for (const row of rows) {
        // What a run does not have is a dash, which is no number and at no distance.
        const [here, there] = [3, 4 + +select.value].map((column) => parseFloat(row.cells[column].textContent));
        row.hidden = +least.value > 0 && !(Math.abs(here - there) >= +least.value);
      }
      said.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    }
    for (const control of [select, least]) control.addEventListener("input", show);
    show();
    host.hidden = false;
  }
}
