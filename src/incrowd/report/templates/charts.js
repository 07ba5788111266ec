// Draws the charts anew, to fit the window and to answer the pointer. Without it the page shows
// the same charts as they were drawn when it was made. No expression is compiled (ast), so the
// page's policy need not allow that.
const options = {
  ast: true,
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};
const held = document.querySelectorAll("[data-chart]");
async function draw() {
  for (const place of held) {
    const spec = JSON.parse(document.getElementById("spec-" + place.dataset.chart).textContent);
    await vegaEmbed(place, spec, options);
    place.dataset.live = "yes";
  }
  document.documentElement.dataset.drawn = "yes";
}
draw();
