// The style sheet of the page that `show --html` writes.
#pragma once

#include <string_view>

namespace onnxar::tool::html {

inline constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --page: #fcfcfb; --text: #1d1f23; --faint: #62666e; --line: #dcdee2; --bar: #3f6fb5;
  --float32: #3f6fb5; --float16: #2f9c95; --float64: #274a80; --float8: #74a9d8; --integer: #c97b2d; --byte: #e0ab4f;
  --small: #b5544a; --other: #8a63ad; --graph: #5d8f3d; --header: #a3a7ad; --padding: #d5d8dc; --unused: #e9c7c3; }
@media (prefers-color-scheme: dark) { :root { --page: #17191c; --text: #e7e8ea; --faint: #9aa0a8; --line: #34383e;
  --bar: #6f9edf; --float32: #6f9edf; --float16: #4fbdb5; --float64: #4a74b8; --float8: #a5c9ea; --integer: #e09a52;
  --byte: #edc272; --small: #d9776c; --other: #b08fd0; --graph: #85b765; --header: #6d7279; --padding: #41464d;
  --unused: #6b3f3b; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1.2rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; }
.faint { color: var(--faint); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--faint); white-space: nowrap; }
#summary th, #storage th { width: 12rem; }
#storage { width: auto; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar { width: 45%; }
.bar i { display: block; height: .8em; margin-top: .35em; min-width: 1px; background: var(--bar); border-radius: 2px; }
svg { display: block; width: 100%; height: auto; background: var(--page); }
rect:hover { stroke: var(--text); stroke-width: 1.5; }
.wide { stroke: var(--page); stroke-width: .6; }
.tree { margin: 0; padding: 0 0 0 1.2rem; }
td > .tree { padding: 0; list-style: none; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .5rem 0 0; padding: 0; list-style: none;
  font-size: .85rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
.float32 { fill: var(--float32); background: var(--float32); } .float16 { fill: var(--float16); background: var(--float16); }
.float64 { fill: var(--float64); background: var(--float64); } .float8 { fill: var(--float8); background: var(--float8); }
.integer { fill: var(--integer); background: var(--integer); } .byte { fill: var(--byte); background: var(--byte); }
.small { fill: var(--small); background: var(--small); } .other { fill: var(--other); background: var(--other); }
.graph { fill: var(--graph); background: var(--graph); } .header { fill: var(--header); background: var(--header); }
.padding { fill: var(--padding); background: var(--padding); } .unused { fill: var(--unused); background: var(--unused); }
)css";

}  // namespace onnxar::tool::html
