/* D(v) to play with: v, a sample of each class, and all samples seen along v and along a random direction; and what a network
   that learns along every wave, and one that does not, made of it. */
function problem(root, _, page) {
  const SAMPLES = 400, TRAINED = ["LogReg", "LeNet"], nads = Object.keys(page.nads), input = (name) => $(`problem-${name}`), draws = {};
  let v, shape, along, at, noise, turn = 0;
  root.hidden = false;
  options(input("direction"), ["a wave", ...nads.map((key) => `a NAD of ${page.nads[key].name}`)]);
  const dot = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0);
  const unit = (values) => values.map((value) => value / Math.sqrt(dot(values, values)));
  function wave(row, column) {
    const values = new Float32Array(1024).map((_, n) => Math.cos((2 * Math.PI * (row * (n >> 5) + column * (n % 32))) / 32));
    return unit(values);
  }
  /* The samples' draws g, a random direction u, and the products of both with v and of g with u. */
  function drawn() {
    const size = v.length, every = (draws[size] ??= normal((SAMPLES + 1) * size)), u = unit(every.subarray(SAMPLES * size));
    const g = Array.from({ length: SAMPLES }, (_, n) => every.subarray(n * size, (n + 1) * size));
    return { g, gv: g.map((each) => dot(each, v)), gu: g.map((each) => dot(each, u)), uv: dot(u, v) };
  }
  async function choose() {
    const now = ++turn, key = nads[input("direction").value - 1], network = page.nads[key];
    for (const name of ["row", "column"]) input(name).parentElement.hidden = Boolean(network);
    input("index").parentElement.hidden = !network;
    if (network) {
      input("index").max = network.indices.length - 1;
      const index = network.indices[input("index").value], values = await nad(network, index);
      if (now !== turn) return; // another was chosen meanwhile
      [v, shape, along, at] = [unit(values), network.shape, key, `${index}`];
      input("called").textContent = `v: NAD ${index} of ${network.name}`;
    } else {
      const [row, column] = [+input("row").value, +input("column").value];
      [v, shape, along, at] = [wave(row, column), [1, 32, 32], "wave", `${row},${column}`];
      input("called").textContent = minus(`v: the wave (${row}, ${column})`);
    }
    input("v").setAttribute("aria-label", input("called").textContent);
    noise = drawn();
    show();
  }
  /* Samples of both classes, seen along v or along u: two histograms on one axis. */
  function histogram(svg, values, title, top, reach) {
    const { width } = svg.getBoundingClientRect(), bins = 61, height = 70, bottom = top + height;
    const counts = [-1, 1].map((y) => values.reduce((list, [label, value]) => {
      if (label === y) list[Math.floor((bins * (value + reach)) / (2 * reach))] += 1;
      return list;
    }, new Array(bins).fill(0)));
    const most = Math.max(...counts.flat());
    counts.forEach((list, n) => list.forEach((count, bin) => {
      const tall = (height * count) / most, box = { x: (bin * width) / bins, y: bottom - tall, width: width / bins - 0.5, height: tall };
      if (count) svg.append(element("svg:rect", { ...box, fill: `var(--${n ? "theirs" : "ours"})`, opacity: 0.65 }));
    }));
    svg.append(element("svg:line", { x1: 0, x2: width, y1: bottom, y2: bottom, stroke: "currentColor", opacity: 0.5 }));
    svg.append(element("svg:text", { x: 0, y: top - 6 }, title));
  }
  function show() {
    const [eps, sigma] = [+input("eps").value, +input("sigma").value], { g, gv, gu, uv } = noise;
    for (const [name, value] of [["eps", eps], ["sigma", sigma]]) input(`${name}-is`).textContent = value;
    const y = (n) => (n % 2 ? 1 : -1), shift = (n) => eps * y(n) - sigma * gv[n]; // x = σg + shift·v
    const samples = [0, 1].map((n) => v.map((value, pixel) => sigma * g[n][pixel] + shift(n) * value));
    const peak = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const bright = Math.max(...samples.map(peak));
    draw(input("v"), v.map((value) => value / peak(v)), shape);
    samples.forEach((x, n) => draw(input(n ? "plus" : "minus"), x.map((value) => value / bright), shape));
    const seen = gv.map((_, n) => [y(n), eps * y(n)]), elsewhere = gu.map((value, n) => [y(n), sigma * value + shift(n) * uv]);
    const svg = input("plot"), reach = 1.05 * peak([...seen, ...elsewhere].map(([, value]) => value));
    svg.setAttribute("viewBox", `0 0 ${svg.getBoundingClientRect().width} 200`);
    svg.replaceChildren();
    histogram(svg, seen, "seen along v, where a linear rule looks", 20, reach);
    histogram(svg, elsewhere, "seen along a random direction", 120, reach);
    const share = eps ** 2 / (eps ** 2 + sigma ** 2 * (v.length - 1));
    const words = `At ε = ${eps} and σ = ${sigma}, ${(100 * share).toPrecision(2)} % of the pixels' variance is the class; all else is noise.`;
    const curves = Object.values(page.sweep).filter((curve) => curve.nads === along && curve.own);
    const results = [...TRAINED.map((name) => along === "wave" && page.fourier[name]), ...curves].filter((network) => network?.cells?.[at]);
    const learned = results.map(({ name, cells, science }) => `${name}, trained at ${science}: ${said(cells[at])}`);
    input("read").replaceChildren(...[words, ...learned].map((text) => element("p", {}, text)));
  }
  for (const name of ["row", "column", "index"]) input(name).addEventListener("input", choose);
  for (const name of ["eps", "sigma"]) input(name).addEventListener("input", show);
  input("direction").addEventListener("change", choose);
  addEventListener("resize", show);
  choose();
}
