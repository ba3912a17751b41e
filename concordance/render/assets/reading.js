/* While the repository is read for the first time: the steps of the build. */
(function () {
  "use strict";
  var site = window.concordance;

  site.showProgress = function (event) {
    var now = JSON.parse(event.data), passed = true;
    site.all(".reading li").forEach(function (step) {
      var current = step.dataset.step === now.step;
      if (current) passed = false;
      step.className = passed && now.step !== "failed" ? "done" : "";
      if (current) step.setAttribute("aria-current", "step"); else step.removeAttribute("aria-current");
      site.$("span", step).textContent = current ? now.count : "";
    });
    site.$(".reading .failure").hidden = now.step !== "failed";
  };
})();
