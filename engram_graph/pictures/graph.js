"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const slider = document.getElementById("moment");
  const showEnded = document.getElementById("ended");
  const last = data.moments.length - 1;

  // -- what holds at a moment: places in the list of moments are compared, so it is exact

  function state(fact, at) {
    if (fact.from > at) return "coming";
    return fact.until !== null && fact.until <= at ? "ended" : "holds";
  }

  // -- the graph

  const svg = d3.select("#graph");
  const layer = svg.append("g");
  const facts = layer.append("g").selectAll("g").data(data.facts, (d) => d.id).enter().append("g")
    .attr("class", "fact").attr("role", "button").attr("tabindex", 0)
    .attr("data-id", (d) => d.id).attr("aria-label", (d) => d.text);
  facts.append("title").text((d) => d.text + "\n" + d.since);
  facts.append("path").attr("class", "reach").attr("d", (d) => d.path);
  facts.append("path").attr("class", "line").attr("d", (d) => d.path)
    .attr("stroke", (d) => d.colour);
  facts.append("path").attr("class", "head").attr("d", "M0,0L-9,-4L-9,4Z")
    .attr("transform", (d) => `translate(${d.tip})rotate(${d.turn})`)
    .attr("fill", (d) => d.colour);
  facts.append("rect").attr("rx", 3).call(box);
  facts.append("text").attr("x", (d) => d.x).attr("y", (d) => d.y)
    .attr("fill", (d) => d.colour).text((d) => d.label);
  const entities = layer.append("g").selectAll("g").data(data.entities, (d) => d.key).enter().append("g")
    .attr("class", "entity").attr("data-key", (d) => d.key);
  entities.append("title").text((d) => d.name);
  entities.append("rect").attr("rx", 9).call(box);
  entities.append("text").attr("x", (d) => d.x).attr("y", (d) => d.y).text((d) => d.label);

  function box(shapes) {
    shapes.attr("x", (d) => d.x - d.width / 2).attr("y", (d) => d.y - d.height / 2)
      .attr("width", (d) => d.width).attr("height", (d) => d.height);
  }

  const zoom = d3.zoom().scaleExtent([0.05, 8])
    .on("zoom", () => layer.attr("transform", d3.event.transform));
  svg.call(zoom).on("dblclick.zoom", null);

  function fit() {
    const place = svg.node().getBoundingClientRect();
    const scale = Math.min(1.6, place.width / data.width, place.height / data.height) || 1;
    const left = (place.width - data.width * scale) / 2;
    const top = (place.height - data.height * scale) / 2;
    svg.call(zoom.transform, d3.zoomIdentity.translate(left, top).scale(scale));
  }

  // -- the story of a fact

  function tell(fact) {
    facts.classed("chosen", (d) => d === fact);
    document.getElementById("sentence").textContent = fact.text;
    document.getElementById("since").textContent = fact.since;
    document.getElementById("story").textContent = fact.story;
    document.querySelector("aside").scrollTop = 0;
  }
  facts.on("click", tell).on("keydown", (fact) => {
    if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
    d3.event.preventDefault();
    tell(fact);
  });

  // -- the moment

  const strip = d3.select("#time");
  const scale = d3.scaleUtc().domain(span());
  const axis = strip.append("g").attr("transform", "translate(0,18)");
  const changes = strip.append("g").selectAll("line").data(data.moments).enter().append("line")
    .attr("class", "change").attr("y1", 7).attr("y2", 18);
  const mark = strip.append("line").attr("class", "now").attr("y1", 0).attr("y2", 22);

  function span() {
    const first = data.moments[0].ms;
    const final = data.moments[last].ms;
    const aside = Math.max((final - first) * 0.02, 43200000);
    return [new Date(first - aside), new Date(final + aside)];
  }

  function drawTime() {
    const width = strip.node().getBoundingClientRect().width;
    scale.range([0, width]);
    const days = (scale.domain()[1] - scale.domain()[0]) / 86400000;
    const format = days > 900 ? "%Y" : days > 60 ? "%Y-%m" : days > 4 ? "%Y-%m-%d" : "%d, %H:%M";
    let free = 0;  // the last day of a month and the first stand close together
    const ticks = scale.ticks(Math.max(2, Math.floor(width / 110))).filter((tick) => {
      if (scale(tick) < free) return false;
      free = scale(tick) + 80;
      return true;
    });
    axis.call(d3.axisBottom(scale).tickValues(ticks).tickFormat(d3.utcFormat(format))
      .tickSizeOuter(0));
    changes.attr("x1", (d) => scale(d.ms)).attr("x2", (d) => scale(d.ms));
    const x = scale(data.moments[+slider.value].ms);
    mark.attr("x1", x).attr("x2", x);
  }

  strip.on("click", function () {
    const asked = +scale.invert(d3.mouse(this)[0]);
    go(d3.scan(data.moments, (a, b) => Math.abs(a.ms - asked) - Math.abs(b.ms - asked)));
  });

  function go(at) {
    slider.value = Math.max(0, Math.min(last, at));
    show();
  }

  function show() {
    const at = +slider.value;
    const alive = new Set();
    const begun = new Set();
    const count = { holds: 0, ended: 0, coming: 0 };
    for (const fact of data.facts) {
      const now = state(fact, at);
      count[now] += 1;
      if (now === "coming" || (now === "ended" && !showEnded.checked)) continue;
      for (const end of fact.ends) {
        begun.add(end);
        if (now === "holds") alive.add(end);
      }
    }
    facts.classed("coming", (d) => state(d, at) === "coming")
      .classed("holds", (d) => state(d, at) === "holds")
      .classed("ended", (d) => state(d, at) === "ended")
      .classed("hidden", (d) => state(d, at) === "ended" && !showEnded.checked);
    entities.classed("coming", (d) => !begun.has(d.key)).classed("ended", (d) => !alive.has(d.key));
    const one = count.holds === 1 ? "fact holds" : "facts hold";
    const said = document.getElementById("shown");
    said.textContent = "";
    said.appendChild(document.createElement("b")).textContent = data.moments[at].label;
    said.append(` · ${count.holds} ${one}, ${count.ended} ended, ${count.coming} to come`);
    slider.setAttribute("aria-valuetext", said.textContent);
    document.getElementById("earlier").disabled = at === 0;
    document.getElementById("later").disabled = at === last;
    drawTime();
  }

  // -- the legend, and start

  const items = d3.select("#legend").selectAll("li").data(data.legend).enter().append("li");
  items.append("svg").attr("width", 26).attr("height", 8).append("line")
    .attr("x2", 26).attr("y1", 4).attr("y2", 4).attr("stroke-width", 2)
    .attr("stroke", (d) => d.colour).attr("stroke-dasharray", (d) => (d.ended ? "6 4" : null));
  items.append("span").text((d) => d.label);

  slider.max = last;
  slider.value = data.at;
  slider.addEventListener("input", show);
  showEnded.addEventListener("change", show);
  document.getElementById("earlier").addEventListener("click", () => go(+slider.value - 1));
  document.getElementById("later").addEventListener("click", () => go(+slider.value + 1));
  document.getElementById("whole").addEventListener("click", fit);
  window.addEventListener("resize", () => { fit(); drawTime(); });
  show();
  fit();
})();
