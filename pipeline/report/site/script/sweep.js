/* Accuracy along the NADs, a curve for each network. */
function sweep(offered, page) {
  const curves = Object.values(offered), select = $("sweep-network"), svg = $("sweep-curve"), tile = $("sweep-tile");
  options(select, curves);
  function show(chosen) {
    const shown = curves[select.value], { cells, published } = shown;
    const rows = [["accuracy", cells[chosen] ? said(cells[chosen]) : "not trained here"]];
    if (cells[chosen]) rows.push(["on the training set", `${percent(cells[chosen][4])} %`]);
    if (published) rows.push([published.called, chosen in published.values ? `${published.values[chosen].toFixed(2)} %` : "none at this index"]);
    terms($("sweep-read"), rows);
    $("sweep-slider").setAttribute("aria-valuetext", [["NAD", chosen], ...rows].map((row) => row.join(" ")).join(", "));
    curve(svg, shown, { last: indices(shown).at(-1), guess: 0.5, chosen, training: true, pointed: slider.go });
    const network = page.nads[shown.nads], text = `NAD ${chosen} of ${network?.name}${shown.own ? "" : ", full width"}`;
    tile.hidden = !network?.indices.includes(chosen);
    if (!tile.hidden) drawNad($("sweep-pixels"), network, chosen, `${text}, in pixels`);
    $("sweep-called").textContent = text;
  }
  const slider = slide($("sweep-slider"), show);
  function pick() {
    const shown = curves[select.value], { name, cells, published, caption, science } = shown;
    svg.setAttribute("aria-label", `Accuracy along the NADs of ${name}`);
    const hollow = Object.values(cells).some(([, , seeds, fitted]) => fitted < seeds) ? "; hollow: not fitted with every seed" : "";
    const ours = Object.keys(cells).length ? `dots: test accuracy${hollow} · thin: training accuracy` : "";
    $("sweep-legend").textContent = [ours, published && `orange: ${published.called}`].filter(Boolean).join(" · ");
    $("sweep-caption").textContent = [caption, science].filter(Boolean).join(" · ");
    slider.offer(indices(shown));
  }
  select.addEventListener("change", pick);
  pick();
}
