"use strict";
// What all pages share: how a figure fits its place.
const narrow = window.matchMedia("(max-width: 600px)").matches;
const CONFIG = { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover", modeBarButtonsToRemove: ["lasso2d", "select2d"] };

function fitted(layout) {
  const fit = { ...layout, autosize: true };
  if (narrow) {
    fit.margin = { ...fit.margin, l: 8, r: 8 };
    fit.font = { ...fit.font, size: 11 };
  }
  return fit;
}
