// Saves the page with what is filled in: values become part of the text, as charts are part of it.
const form = document.getElementById("decision");
function keep() {
  for (const field of form.elements) {
    if (field.type === "radio") field.toggleAttribute("checked", field.checked);
    else if (field.tagName === "TEXTAREA") field.textContent = field.value;
    else if (field.tagName === "INPUT") field.setAttribute("value", field.value);
  }
  const text = "<!doctype html>\n" + document.documentElement.outerHTML;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  link.download = "report-filled-in.html";
  link.click();
}
document.getElementById("keep").addEventListener("click", keep);
form.addEventListener("submit", (event) => event.preventDefault());
