/* The maps over frequency, to point at. */
function fourier() {
  const { maps } = data.fourier, select = $("fourier-map");
  const wrapped = (k, side) => ((k + side / 2) % side + side) % side - side / 2;
  const at = (cells, r, c, [height, width]) => cells[`${r},${c}`] || cells[`${wrapped(-r, height)},${wrapped(-c, width)}`] || cells[`${-r},${-c}`];
  const every = maps.flatMap((map) => [[map.name, map.cells, map.sides], ...(map.published ? [[`${map.name}, ${map.called}`, map.published, map.sides]] : [])]);
  options(select, every.map(([name]) => name));
  select.value = every.reduce((best, [, cells], n) => (Object.keys(cells).length > Object.keys(every[best][1]).length && !every[n][0].includes("published") ? n : best), 0);
  let axis;
  const highest = ([, cells]) => Object.entries(cells).reduce((a, b) => (b[1][0] > a[1][0] && b[0] !== "0,0" ? b : a), ["", [-1]])[0].split(",").map(Number);
  let last = highest(every[select.value]);
  function read(r, c) {
    last = [r, c];
    const [height, width] = every[select.value][2], wave = new Float32Array(height * width);
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) wave[row * width + column] = Math.cos(2 * Math.PI * ((r * row) / height + (c * column) / width));
    draw($("fourier-pattern"), wave, [1, height, width]);
    const body = maps.map((map) => {
      const ours = at(map.cells, r, c, map.sides), theirs = map.published && at(map.published, r, c, map.sides);
      return element("tr", {}, element("th", { scope: "row" }, map.name), element("td", {}, ours ? said(ours) : "not trained here"),
        element("td", { class: "theirs" }, theirs ? `${percent(theirs[0])} %` : "–"));
    });
    const head = element("tr", {}, ...["network", "this run", "published"].map((text) => element("th", { scope: "col" }, text)));
    $("fourier-read").replaceChildren(element("p", {}, minus(`Frequency (${r}, ${c})`)), element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
  }
  function pick() {
    const [name, cells, sides] = every[select.value], ks = Object.keys(cells).map((key) => key.split(",").map(Number));
    axis = [...new Set(ks.flatMap((pair) => [...pair, ...pair.map((k, n) => wrapped(-k, sides[n]))]))].sort((a, b) => a - b);
    const look = unfitted(Object.values(cells), $("fourier-legend"));
    const choose = grid($("fourier-grid"), axis, axis, (r, c) => {
      const found = at(cells, r, c, sides), where = minus(`(${r}, ${c})`);
      if (!found) return { name: `${where}: not trained`, look: "empty" };
      const level = 2 * found[0] - 1;
      return { name: `${where}: ${percent(found[0])} %`, style: `background-color:${css(level)};color:${level > 0.56 ? "#000" : "#fff"}`, text: axis.length <= 9 ? percent(found[0], 0) : "", ...look(found) };
    }, read);
    $("fourier-grid").firstChild.setAttribute("aria-label", `Accuracy of ${name} over frequency`);
    choose(...last.map((k) => Math.max(0, axis.indexOf(k))));
  }
  select.addEventListener("change", pick);
  pick();
}
