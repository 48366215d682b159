// A button at each example that copies it.
document.addEventListener("DOMContentLoaded", () => {
  for (const example of document.querySelectorAll(".bd-article div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(example.querySelector("pre").textContent.trimEnd());
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    example.append(button);
  }
});
