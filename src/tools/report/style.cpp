#include "src/tools/report/style.hpp"

namespace voxherd::report {

const char* const style_sheet = R"css(
:root{--page:#fff;--text:#1b1f24;--quiet:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0550ae;--alarm:#8a1c1c;
--alarm-page:#fff1f0;--c0:#0072b2;--c1:#b34700;--c2:#00734f;--c3:#a03a78;--c4:#6b5900;--band:#d0d7de}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--text:#e6e9ed;--quiet:#a6afb9;--line:#3a424b;--panel:#1c2127;
--link:#7ab8ff;--alarm:#ffb3ad;--alarm-page:#3a1a1a;--c0:#56b4e9;--c1:#ff9d5c;--c2:#3ecf9a;--c3:#e79ac8;--c4:#f0e442;
--band:#3a424b}}
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
h3{font-size:1.05rem;margin:.2rem 0 .5rem}
header p{color:var(--quiet);margin:.2rem 0}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;margin:1rem 0}
.warnings{border-left:.4rem solid var(--alarm);background:var(--alarm-page);padding:.5rem 1rem;margin:1rem 0}
.warnings h2,.calm h2{margin:0;border:0;font-size:1.1rem}
.warnings h2{color:var(--alarm)}
.warnings ul{margin:.3rem 0;padding-left:1.2rem}
.calm{border-left:.4rem solid var(--c2);background:var(--panel);padding:.5rem 1rem;margin:1rem 0}
.calm p{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem}
figure{margin:0;padding:.8rem;background:var(--panel);border:1px solid var(--line);border-radius:.4rem;min-width:0}
figure.wide{grid-column:1/-1}
figure img{display:block;width:100%;height:auto;background:#000;image-rendering:pixelated}
figure img.smooth{image-rendering:auto}
figure svg{display:block;width:100%;height:auto;max-width:40rem;margin:0 auto}
figcaption{margin-top:.5rem;color:var(--text)}
.legend{color:var(--quiet);font-size:.9rem;margin:.3rem 0 0}
.bar{display:flex;align-items:center;gap:.5rem;margin:.4rem 0 0;font-size:.9rem}
.bar img{flex:1;min-width:4rem;height:.8rem;image-rendering:auto}
.views{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(16rem,100%),1fr));gap:.5rem;align-items:center;
justify-items:center}
.key svg{display:inline-block;width:1.8rem;margin:0 .3rem 0 0;vertical-align:middle}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.4rem 0 0;font-size:.9rem}
.key i{display:inline-block;width:.9rem;height:.9rem;margin-right:.4rem;vertical-align:-.1rem;border:1px solid var(--line)}
details{margin-top:.5rem}
summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;color:var(--quiet);padding:.2rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line)}
thead th{white-space:nowrap}
tbody th{font-weight:600;min-width:6rem}
th,td{overflow-wrap:break-word}
td{font-variant-numeric:tabular-nums;min-width:3rem}
td:last-child{overflow-wrap:anywhere}
@media (max-width:40rem){td:last-child:nth-child(n+4){min-width:14rem}}
blockquote{margin:.5rem 0;padding:.2rem 1rem;border-left:.3rem solid var(--line);background:var(--panel)}
svg text{fill:var(--text);font:12px system-ui,"DejaVu Sans",sans-serif}
svg .axis{stroke:var(--quiet);fill:none}
svg .grid{stroke:var(--line);fill:none}
.k0{--k:var(--c0)}.k1{--k:var(--c1)}.k2{--k:var(--c2)}.k3{--k:var(--c3)}.k4{--k:var(--c4)}
.k1 .draw{stroke-dasharray:6 3}.k2 .draw{stroke-dasharray:2 2}
svg .fill{fill:var(--k,var(--c0))}
svg .draw{stroke:var(--k,var(--c0));fill:none;stroke-width:1.6}
svg .band{fill:var(--band)}
@media print{body{max-width:none;font-size:10pt}figure,tr{break-inside:avoid}nav{display:none}
details::details-content{content-visibility:visible;block-size:auto}.scroll{overflow:visible}}
)css";

}  // namespace voxherd::report
