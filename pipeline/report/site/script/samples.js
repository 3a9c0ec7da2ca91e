/* Samples of D(v), with its amplitude, noise and direction in the reader's hands. */
function samples() {
  const usable = data.nads.filter((network) => network.shape[0] === 1);
  if (!usable.length) return false;
  const COUNT = 60, select = $("samples-network"), place = $("samples-place");
  options(select, usable.map((network) => network.name));
  select.value = Math.max(0, usable.findIndex((network) => Object.keys(network.accuracies).length));
  let network, v, noise, size, seed = 1, latest = 0;
  function normals(count) {
    let state = seed;
    const uniform = () => { // mulberry32
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const out = new Float32Array(count);
    for (let n = 0; n < count; n++) out[n] = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    return out;
  }
  const dot = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0);
  /* x = εyv + σ(g − ⟨g, v⟩v), which is D(v) with g ~ N(0, I). */
  function sample(g, y, eps, sigma) {
    const along = eps * y - sigma * dot(g, v);
    return g.map((value, n) => sigma * value + along * v[n]);
  }
  async function turn() {
    const mine = ++latest, pixels = await sheet(network);
    if (mine !== latest) return;
    v = direction(network, pixels, +place.value);
    const length = Math.sqrt(dot(v, v));
    v = v.map((value) => value / length);
    size = v.length;
    const all = normals(COUNT * size);
    noise = Array.from({ length: COUNT }, (_, n) => all.subarray(n * size, (n + 1) * size));
    show();
  }
  function show() {
    if (!v) return;
    const eps = 10 ** +$("samples-eps").value, sigma = 10 ** +$("samples-sigma").value;
    const y = +document.querySelector("[name=samples-y]:checked").value;
    $("samples-eps-value").textContent = eps.toPrecision(2);
    $("samples-sigma-value").textContent = sigma.toPrecision(2);
    $("samples-place-value").textContent = network.indices[place.value];
    const xs = noise.map((g, n) => sample(g, n ? (n % 2 ? 1 : -1) : y, eps, sigma)), x = xs[0];
    const largest = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-30), bound = largest(x), top = largest(v);
    draw($("samples-v"), v.map((value) => value / top), network.shape);
    draw($("samples-signal"), v.map((value) => (eps * y * value) / bound), network.shape);
    draw($("samples-x"), x.map((value) => value / bound), network.shape);
    const pixel = v.reduce((best, value, n) => (Math.abs(value) > Math.abs(v[best]) ? n : best), 0);
    const rows = [["along v: ⟨x, v⟩", xs.map((each) => dot(each, v))], ["in the pixel where |v| is largest", xs.map((each) => each[pixel])]];
    const svg = $("samples-axes"), reach = 1.05 * Math.max(...rows.map(([, values]) => largest(values)));
    const at = (value) => 320 + (300 * value) / reach;
    svg.replaceChildren();
    rows.forEach(([text, values], r) => {
      const middle = 45 + 70 * r;
      svg.append(element("svg:text", { x: 20, y: middle - 24 }, text));
      svg.append(element("svg:line", { x1: 20, x2: 620, y1: middle, y2: middle, stroke: "currentColor", opacity: 0.4 }));
      svg.append(element("svg:text", { x: 320, y: middle + 22, "text-anchor": "middle" }, "0"));
      values.forEach((value, n) => {
        const sign = n ? (n % 2 ? 1 : -1) : y, fill = sign > 0 ? "var(--mark)" : "var(--ours)", c = at(value), d = middle - sign * 7;
        const shape = sign > 0 ? `M${c - 5},${d + 4}h10l-5,-9z` : `M${c - 4.5},${d}a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z`;
        if (n) svg.append(element("svg:path", { d: shape, fill, opacity: 0.55 }));
      });
      const sign = y, c = at(values[0]), d = middle - sign * 7;
      svg.append(element("svg:path", { d: `M${c},${d - 9}l7,9l-7,9l-7,-9z`, fill: "none", stroke: "currentColor", "stroke-width": 2.5 }));
    });
    const part = (eps * eps) / dot(x, x);
    $("samples-read").textContent = minus(`⟨x, v⟩ = ${rows[0][1][0].toFixed(3)}, which is εy: its sign is the class. Yet the class makes up ${(100 * part).toPrecision(2)} % of this sample's square length; the rest is noise. `) +
      "Triangles: class +1, discs: class −1, diamond: this sample.";
  }
  function pick() {
    network = usable[select.value];
    place.max = network.indices.length - 1;
    place.value = Math.min(8, place.max);
    turn();
  }
  select.addEventListener("change", pick);
  place.addEventListener("input", turn);
  for (const input of document.querySelectorAll("#samples-eps, #samples-sigma, [name=samples-y]")) input.addEventListener("input", show);
  $("samples-again").addEventListener("click", () => (seed++, turn()));
  pick();
}
