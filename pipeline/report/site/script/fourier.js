/* The maps over frequency, to point at. */
function fourier() {
  const { side, maps } = data.fourier, half = side / 2, select = $("fourier-map");
  const wrapped = (k) => ((k + half) % side + side) % side - half;
  const at = (cells, r, c) => cells[`${r},${c}`] || cells[`${wrapped(-r)},${wrapped(-c)}`];
  const every = maps.flatMap((map) => [[map.name, map.cells], ...(map.published ? [[`${map.name}, ${map.called}`, map.published]] : [])]);
  options(select, every.map(([name]) => name));
  select.value = every.reduce((best, [, cells], n) => (Object.keys(cells).length > Object.keys(every[best][1]).length && !every[n][0].includes("published") ? n : best), 0);
  let axis;
  const highest = ([, cells]) => Object.entries(cells).reduce((a, b) => (b[1][0] > a[1][0] && b[0] !== "0,0" ? b : a), ["", [-1]])[0].split(",").map(Number);
  let last = highest(every[select.value]);
  function read(r, c) {
    last = [r, c];
    const wave = new Float32Array(side * side);
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++) wave[row * side + column] = Math.cos((2 * Math.PI * (r * row + c * column)) / side);
    draw($("fourier-pattern"), wave, [1, side, side]);
    const body = maps.map((map) => {
      const ours = at(map.cells, r, c), theirs = map.published && at(map.published, r, c);
      return element("tr", {}, element("th", { scope: "row" }, map.name), element("td", {}, ours ? said(ours) : "not trained here"),
        element("td", { class: "theirs" }, theirs ? `${percent(theirs[0])} %` : "–"));
    });
    const head = element("tr", {}, ...["network", "this run", "published"].map((text) => element("th", { scope: "col" }, text)));
    $("fourier-read").replaceChildren(element("p", {}, minus(`Frequency (${r}, ${c})`)), element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
  }
  function pick() {
    const [name, cells] = every[select.value], ks = Object.keys(cells).flatMap((key) => key.split(",").map(Number));
    axis = [...new Set([...ks, ...ks.map((k) => wrapped(-k))])].sort((a, b) => a - b);
    const choose = grid($("fourier-grid"), axis, axis, (r, c) => {
      const found = at(cells, r, c), where = minus(`(${r}, ${c})`);
      if (!found) return { name: `${where}: not trained`, empty: true };
      const level = 2 * found[0] - 1;
      return { name: `${where}: ${percent(found[0])} %`, style: `background:${css(level)};color:${level > 0.56 ? "#000" : "#fff"}`, text: axis.length <= 9 ? percent(found[0], 0) : "" };
    }, read);
    $("fourier-grid").firstChild.setAttribute("aria-label", `Accuracy of ${name} over frequency`);
    choose(...last.map((k) => Math.max(0, axis.indexOf(k))));
  }
  select.addEventListener("change", pick);
  pick();
}
