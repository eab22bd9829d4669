// Draws the figures of the page and lets batches be chosen, moved and zoomed by mouse or keyboard.
const plots = JSON.parse(document.getElementById("data").textContent);

function draw(id) {
  const { figure } = plots[id];
  return Plotly.newPlot(id, figure.data, fitted(figure.layout), CONFIG);
}

// Draw what is seen first; the rest when it comes near.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting && !entry.target.dataset.drawn) {
      entry.target.dataset.drawn = "1";
      draw(entry.target.id).then(() => { if (plots[entry.target.id].batches.length) listen(entry.target.id); });
    }
  }
}, { rootMargin: "600px" });
for (const id of Object.keys(plots)) seen.observe(document.getElementById(id));
window.addEventListener("beforeprint", () => { for (const id of Object.keys(plots)) if (!document.getElementById(id).dataset.drawn) draw(id); });

// Batches ---------------------------------------------------------------------------------------------------------
const chosen = {};

function listen(id) {
  document.getElementById(id).on("plotly_click", (event) => choose(id, event.points[0].customdata[0]));
}

function choose(id, number) {
  const { batches } = plots[id];
  const batch = batches.find((one) => one.id === number);
  if (!batch) return;
  chosen[id] = number;
  const members = new Set(batch.members);
  const related = new Map();
  for (const other of batches) {
    const shared = other.members.filter((request) => members.has(request)).length;
    if (shared && other.id !== number) related.set(other.id, shared);
  }
  const waitedFor = batches.filter((other) => other.row === batch.row && other.id !== number
    && other.end > batch.start - batch.waited && other.start < batch.start);
  mark(id, number, related);
  const parts = [`Batch ${number} (${batch.row}): ${batch.count} requests, longest ${batch.longest}, `
    + `${batch.start.toFixed(4)}–${batch.end.toFixed(4)} s; its oldest member waited ${batch.waited.toFixed(4)} s`];
  if (waitedFor.length) parts.push(`behind ${waitedFor.length} batch${waitedFor.length > 1 ? "es" : ""} of ${batch.row} (${waitedFor.map((one) => one.id).slice(0, 8).join(", ")}${waitedFor.length > 8 ? ", …" : ""})`);
  if (related.size) parts.push("its members were also in " + [...related].slice(0, 8).map(([other, count]) => `batch ${other} (${count})`).join(", ") + (related.size > 8 ? ", …" : ""));
  document.getElementById(id + "-chosen").textContent = parts.join("; ") + ".";
}

function mark(id, number, related) {
  const data = document.getElementById(id).data;
  data.forEach((trace, place) => {
    const line = trace.customdata.map(([batch]) => (batch === number ? "#0f172a" : related.has(batch) ? "#be123c" : "white"));
    const width = trace.customdata.map(([batch]) => (batch === number ? 3 : related.has(batch) ? 2 : 0.5));
    Plotly.restyle(id, { "marker.line.color": [line], "marker.line.width": [width] }, [place]);
  });
}

function move(id, what) {
  const element = document.getElementById(id);
  if (!element.layout) return;  // not drawn yet
  if (what === "next" || what === "previous") {
    const order = [...plots[id].batches].sort((a, b) => a.start - b.start || a.id - b.id);
    const [low, high] = element.layout.xaxis.range;
    let place = order.findIndex((one) => one.id === chosen[id]);
    if (place < 0) place = order.findIndex((one) => one.start >= low) - (what === "next" ? 1 : -1);
    const batch = order[Math.min(order.length - 1, Math.max(0, place + (what === "next" ? 1 : -1)))];
    if (batch.start < low || batch.end > high) {
      const half = (high - low) / 2;
      Plotly.relayout(id, { "xaxis.range": [batch.start - half, batch.start + half] });
    }
    choose(id, batch.id);
    return;
  }
  const [low, high] = element.layout.xaxis.range;
  const width = high - low, middle = (high + low) / 2;
  const ranges = { left: [low - width / 2, high - width / 2], right: [low + width / 2, high + width / 2],
    in: [middle - width / 4, middle + width / 4], out: [middle - width, middle + width] };
  Plotly.relayout(id, { "xaxis.range": ranges[what] });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-plot]");
  if (button) move(button.dataset.plot, button.dataset.do);
});
