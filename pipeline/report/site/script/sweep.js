/* Accuracy along the NADs, a curve for each network. */
function sweep(root, offered, page) {
  const curves = Object.values(offered), select = $("sweep-network"), slider = $("sweep-slider"), svg = $("sweep-curve"), tile = $("sweep-tile");
  let turn = 0;
  root.hidden = false;
  options(select, curves);
  async function tell(network, index, own) {
    const now = ++turn;
    tile.hidden = !network?.indices.includes(index);
    if (tile.hidden) return;
    const values = await nad(network, index);
    if (now !== turn) return; // another was chosen meanwhile
    draw($("sweep-pixels"), values, network.shape);
    const text = `NAD ${index} of ${network.name}${own ? "" : ", full width"}`;
    $("sweep-pixels").setAttribute("aria-label", `${text}, in pixels`);
    $("sweep-called").textContent = text;
  }
  function show() {
    const shown = curves[select.value], { cells, published } = shown, chosen = indices(shown)[slider.value];
    const rows = [["NAD", String(chosen)], ["accuracy", cells[chosen] ? said(cells[chosen]) : "not trained here"]];
    if (cells[chosen]) rows.push(["on the training set", `${percent(cells[chosen][4])} %`]);
    if (published) rows.push([published.called, chosen in published.values ? `${published.values[chosen].toFixed(2)} %` : "none at this index"]);
    terms($("sweep-read"), rows);
    $("sweep-index").textContent = `NAD ${chosen}`;
    slider.setAttribute("aria-valuetext", rows.map((row) => row.join(" ")).join(", "));
    curve(svg, shown, { guess: 0.5, chosen, training: true, pointed: (place) => ((slider.value = place), show()) });
    tell(page.nads[shown.nads], chosen, shown.own);
  }
  function pick() {
    const shown = curves[select.value], { name, cells, published, caption, science } = shown;
    const all = indices(shown), before = all[slider.value] ?? 0;
    slider.max = all.length - 1;
    slider.value = Math.max(0, all.indexOf(before));
    svg.setAttribute("aria-label", `Accuracy along the NADs of ${name}`);
    const hollow = Object.values(cells).some(([, , seeds, fitted]) => fitted < seeds) ? "; hollow: not fitted with every seed" : "";
    const ours = Object.keys(cells).length ? `dots: test accuracy${hollow} · thin: training accuracy` : "";
    $("sweep-legend").textContent = [ours, published && `orange: ${published.called}`].filter(Boolean).join(" · ");
    $("sweep-caption").textContent = [caption, science].filter(Boolean).join(" · ");
    show();
  }
  select.addEventListener("change", pick);
  slider.addEventListener("input", show);
  addEventListener("resize", show);
  pick();
}
