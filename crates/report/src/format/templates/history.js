"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const inputs = [...document.querySelectorAll("input[type=radio]")];
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length / 2;
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
  };
  // The ratio of B to A with the interval that Mann and Whitney's test leaves open for independent repetitions. `sixbench compare` allows for more.
  const shift = (a, b) => {
    if ([...a, ...b].some((value) => value <= 0)) return null;
    const ratio = median(b) / median(a);
    const rank = data.ranks[`${a.length},${b.length}`];
    if (!rank) return { ratio };
    const ratios = a.flatMap((x) => b.map((y) => y / x)).sort((x, y) => x - y);
    return { ratio, low: Math.min(ratio, ratios[rank - 1]), high: Math.max(ratio, ratios[ratios.length - rank]) };
  };
  const percent = (ratio) => `${ratio >= 1 ? "+" : "−"}${Math.abs((ratio - 1) * 100).toFixed(1)}`;
  const shown = (point) => `${point.is_at_least ? "at least " : ""}${point.shown} (${point.values.length})`;
  const finding = (series, a, b, found) => {
    if (!found) return "has zeroes: no ratio";
    if (!found.low) return "too few repetitions to say";
    if (found.low <= 1 && found.high >= 1) return "no difference shown";
    const isHigher = found.ratio > 1;
    if (isHigher ? a.is_at_least : b.is_at_least) return `${isHigher ? "A" : "B"} is a lower bound: nothing shown`;
    const word = isHigher === series.is_higher_better ? "better" : "worse";
    if (!series.usual_ratio) return `B is ${word}, by these repetitions alone`;
    const isUsual = Math.max(found.ratio, 1 / found.ratio) <= series.usual_ratio;
    return isUsual ? "as much as runs usually differ" : `B is ${word}`;
  };
  const row = (cells) => {
    const element = document.createElement("tr");
    cells.forEach((text, index) => {
      const cell = document.createElement(index ? "td" : "th");
      if (!index) cell.scope = "row";
      if ([1, 2, 3, 5].includes(index)) cell.className = "n";
      cell.textContent = text;
      element.append(cell);
    });
    return element;
  };
  const chosen = (name) => Number(inputs.find((input) => input.name === name && input.checked)?.value ?? 0);
  const rowOf = (series, of) => {
    const [a, b] = of.map((run) => series.points.find((point) => point.run === run));
    if (!a && !b) return null;
    const usual = series.usual_ratio ? `${((series.usual_ratio - 1) * 100).toFixed(1)} %` : "–";
    if (a && b && !series.is_tested) return row([series.name, a.shown, b.shown, "–", a.median === b.median ? "the same number" : "see Requirements", "–"]);
    if (!a || !b) return row([series.name, a ? shown(a) : "–", b ? shown(b) : "–", "–", "only one of them has it", usual]);
    const found = shift(a.values, b.values);
    const interval = found?.low ? ` [${percent(found.low)}, ${percent(found.high)}]` : "";
    const effect = found ? `${percent(found.ratio)}${interval} %` : "–";
    return row([series.name, shown(a), shown(b), effect, finding(series, a, b, found), usual]);
  };
  const update = () => {
    const of = [chosen("a"), chosen("b")];
    const [a, b] = of.map((run) => data.runs[run].name);
    document.getElementById("beside-names").textContent = `A is ${a}, B is ${b}.`;
    const rows = data.series.map((series) => rowOf(series, of)).filter((found) => found);
    document.getElementById("beside-rows").replaceChildren(...rows);
  };
  const fromAddress = () => {
    const found = /^#a=(\d+)&b=(\d+)$/.exec(location.hash);
    if (!found) return;
    inputs.forEach((input) => { input.checked = input.value === (input.name === "a" ? found[1] : found[2]); });
    update();
    document.getElementById("beside").scrollIntoView();
  };
  document.documentElement.classList.add("has-script");
  inputs.forEach((input) => input.addEventListener("change", () => {
    update();
    history.replaceState(null, "", `#a=${chosen("a")}&b=${chosen("b")}`);
  }));
  addEventListener("hashchange", fromAddress);
  update();
  fromAddress();
})();
