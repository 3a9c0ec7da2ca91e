/* The maps over frequency, to point at. */
function fourier() {
  const maps = data.fourier, select = $("fourier-map");
  const every = maps.flatMap(({ name, cells, sides, called, published }) => (
    published ? [{ name, cells, sides }, { name: `${name}, ${called}`, cells: published, sides }] : [{ name, cells, sides }]));
  const size = ({ cells }) => Object.keys(cells).length;
  const largest = maps.reduce((a, b) => (size(b) > size(a) ? b : a));
  options(select, every.map(({ name }) => name));
  select.value = every.findIndex(({ cells }) => cells === largest.cells);
  const accuracy = (key) => (key === "0,0" ? 0 : largest.cells[key][0]);
  let last = Object.keys(largest.cells).reduce((a, b) => (accuracy(b) > accuracy(a) ? b : a)).split(",").map(Number);
  function read(r, c) {
    last = [r, c];
    const [height, width] = every[select.value].sides, wave = new Float32Array(height * width);
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) wave[row * width + column] = Math.cos(2 * Math.PI * ((r * row) / height + (c * column) / width));
    draw($("fourier-pattern"), wave, [1, height, width]);
    const body = maps.map(({ name, cells, called, published }) => {
      const ours = cells[[r, c]], theirs = published?.[[r, c]];
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, ours ? said(ours) : "not trained here"),
        element("td", { class: "theirs" }, theirs ? `${percent(theirs[0])} %${called.replace("published", "")}` : "–"));
    });
    const head = element("tr", {}, ...["network", "this run", "published"].map((text) => element("th", { scope: "col" }, text)));
    $("fourier-read").replaceChildren(element("p", {}, minus(`Frequency (${r}, ${c})`)), element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
  }
  function pick() {
    const { name, cells } = every[select.value], ks = Object.keys(cells).map((key) => key.split(",").map(Number));
    const [rows, columns] = [0, 1].map((n) => [...new Set(ks.map((k) => k[n]))].sort((a, b) => a - b));
    const look = unfitted(Object.values(cells), $("fourier-legend"));
    const choose = grid($("fourier-grid"), rows, columns, (r, c) => {
      const found = cells[[r, c]], where = minus(`(${r}, ${c})`);
      if (!found) return { name: `${where}: not trained`, look: "empty" };
      return { name: `${where}: ${percent(found[0])} %`, style: shade(found[0]), text: columns.length <= 9 ? percent(found[0], 0) : "", ...look(found) };
    }, read);
    $("fourier-grid").firstChild.setAttribute("aria-label", `Accuracy of ${name} over frequency`);
    choose(Math.max(0, rows.indexOf(last[0])), Math.max(0, columns.indexOf(last[1])));
  }
  select.addEventListener("change", pick);
  pick();
}
