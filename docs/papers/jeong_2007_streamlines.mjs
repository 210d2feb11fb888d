// Streamlines along the first eigenvector from voxels about a place, drawn in the viewer: what fails in Figure 9 of Jeong
// et al. 2007. They end at low FA and sharp bends.
export async function traceStreamlines(page, centre) {
  return page.evaluate(async (mm) => {
    const radius = 6;
    const perMm = 2; // seeds along each axis
    const [stepMm, maxSteps, minFA, minCosine] = [0.5, 600, 0.1, Math.cos(Math.PI / 3)];
    const token = sessionStorage.getItem("token");
    const maps = voxherd.listMaps();
    const read = async (name) => {
      const { key } = maps.find((map) => map.name === name);
      const answer = await fetch(`/api/map/${key}`, { headers: { "X-Token": token } });
      return new Float32Array(await answer.arrayBuffer(), 352);
    };
    const [FA, ...V] = await Promise.all(["FA", "V1 1", "V1 2", "V1 3"].map(read));
    const { size, affine: a } = voxherd.state.grid;
    // The page's grid has no shear: its axes are the world's, nearly.
    const voxelAt = (p) => {
      const i = [0, 1, 2].map((d) => Math.round((p[d] - a[4 * d + 3]) / a[5 * d]));
      return i.every((x, d) => x >= 0 && x < size[d]) ? voxherd.voxelIndex(i) : -1;
    };
    const half = (start, sign) => {
      const points = [];
      let p = start;
      let before = null;
      for (let n = 0; n < maxSteps; n++) {
        const v = voxelAt(p);
        if (v < 0 || !(FA[v] > minFA)) break;
        let d = V.map((component) => component[v]);
        const cosine = before ? d.reduce((sum, x, k) => sum + x * before[k], 0) : sign;
        if (before && Math.abs(cosine) < minCosine) break;
        if (cosine < 0) d = d.map((x) => -x);
        points.push(p);
        before = d;
        p = p.map((x, k) => x + stepMm * d[k]);
      }
      return points;
    };
    const offsets = [0];
    const positions = [];
    for (let x = -radius; x <= radius; x += 1 / perMm)
      for (let y = -radius; y <= radius; y += 1 / perMm)
        for (let z = -radius; z <= radius; z += 1 / perMm) {
          if (Math.hypot(x, y, z) > radius) continue;
          const start = [mm[0] + x, mm[1] + y, mm[2] + z];
          const line = [...half(start, -1).reverse(), ...half(start, 1).slice(1)];
          if (line.length < 20) continue;
          positions.push(...line.flat());
          offsets.push(positions.length / 3);
        }
    voxherd.volume.setFibres({ positions: new Float32Array(positions), offsets: new Uint32Array(offsets) });
    voxherd.volume.draw();
    return offsets.length - 1;
  }, centre);
}
