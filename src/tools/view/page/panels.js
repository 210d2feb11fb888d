// The panels of results: what they show depends on the analysis.
import { MatrixPanel } from "./matrix_panel.js";
import { StreamlinePanel } from "./streamline_panel.js";
import { VoxelPanel } from "./voxel_panel.js";

const byId = (id) => document.getElementById(id);

export async function openPanels(page, say) {
  const { voxel, matrices, streamlines } = page.state.details;
  if (voxel) page.voxelPanel = new VoxelPanel(page, byId("voxel"));
  if (matrices) page.matrixPanel = await MatrixPanel.open(page, byId("matrix"), say);
  if (streamlines) page.streamlinePanel = await StreamlinePanel.open(page, byId("streamlines"), say);
  byId("main").classList.toggle("has-details", Boolean(voxel || matrices || streamlines));
  for (const listen of page.listeners) listen();
}
