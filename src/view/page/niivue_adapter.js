// The only file that knows NiiVue (0.69).
import { NVImage, NVMesh, Niivue } from "@niivue/niivue";

const sliceTypes = { axial: 0, coronal: 1, sagittal: 2, render: 4 };
const layouts = {
  planes: [
    { sliceType: sliceTypes.axial, position: [0, 0, 1, 0.44] },
    { sliceType: sliceTypes.coronal, position: [0, 0.44, 1, 0.28] },
    { sliceType: sliceTypes.sagittal, position: [0, 0.72, 1, 0.28] },
  ],
  volume: [{ sliceType: sliceTypes.render, position: [0, 0, 1, 1] }],
};
const overlayTextureUnit = 2;

// The surface with its back: NiiVue draws only triangles that face the viewer.
function addBack({ points, triangles, rgba }) {
  const count = points.length / 3;
  const join = (first, second) => {
    const all = new first.constructor(first.length + second.length);
    all.set(first);
    all.set(second, first.length);
    return all;
  };
  const back = triangles.map((_, i) => count + triangles[i % 3 === 0 ? i : i % 3 === 1 ? i + 1 : i - 1]);
  return { points: join(points, points), triangles: join(triangles, back), rgba: join(rgba, rgba) };
}

// One canvas: three planes, or a volume. Its overlay is an array of colours that replaces NiiVue's own texture, which is
// four times as fast as a layer of values.
export class ImageView {
  static async open(canvas, kind) {
    const nv = new Niivue({
      backColor: [0, 0, 0, 1],
      crosshairColor: [1, 1, 1, 0.8],
      crosshairWidth: 0.3,
      crosshairWidthUnit: "percent",
      fontColor: [1, 0.9, 0.3, 1],
      fontMinPx: 18,
      showAllOrientationMarkers: true,
      show3Dcrosshair: true,
      isColorbar: false,
      isOrientCube: kind === "volume",
      isForceMouseClickToVoxelCenters: true,
      dragAndDropEnabled: false,
      meshXRay: 0.55,
      meshThicknessOn2D: 3,
      viewModeHotKey: "",
      clipPlaneHotKey: "",
      cycleClipPlaneHotKey: "",
      logLevel: "error",
    });
    await nv.attachToCanvas(canvas);
    return new ImageView(nv, kind);
  }

  constructor(nv, kind) {
    this.nv = nv;
    this.canvas = nv.canvas;
    this.kind = kind;
    this.meshes = new Map();
    this.colours = null;
  }

  // `file`: NIfTI in the page's order. `range`: values shown as black and white.
  async setImage(file, range) {
    const { nv } = this;
    const image = await NVImage.loadFromUrl({ url: "image.nii", name: "image.nii", buffer: file, colormap: "gray" });
    [image.cal_min, image.cal_max] = range;
    while (nv.volumes.length > 0) nv.removeVolumeByIndex(0);
    nv.addVolume(image);
    this.size = image.dimsRAS.slice(1, 4);
    this.addOverlayTexture(image);
    if (this.kind === "volume") nv.setRenderAzimuthElevation(125, 20);
    if (this.kind === "volume") nv.setScale(1.4);
    nv.setCustomLayout(layouts[this.kind]);
    this.uploadColours();
    nv.drawScene();
  }

  // A layer without visible values makes NiiVue allocate the texture and use it.
  addOverlayTexture(image) {
    const layer = image.clone();
    layer.id = "overlay";
    layer.img = new Float32Array(image.img.length);
    [layer.cal_min, layer.cal_max] = [1e9, 2e9];
    this.nv.addVolume(layer);
    // Many of its functions write the texture again, before they draw.
    this.nv.addEventListener("volumeUpdated", () => this.uploadColours());
  }

  // `rgba`: four bytes for each voxel; null: nothing.
  setOverlay(rgba) {
    this.colours = rgba;
    this.uploadColours();
  }

  uploadColours() {
    const { gl, overlayTexture } = this.nv;
    if (!this.colours || !overlayTexture || this.nv.volumes.length < 2) return;
    gl.activeTexture(gl.TEXTURE0 + overlayTextureUnit);
    gl.bindTexture(gl.TEXTURE_3D, overlayTexture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, 0, ...this.size, gl.RGBA, gl.UNSIGNED_BYTE, this.colours);
  }

  // Points (mm) and triangles of a surface; none removes it.
  setSurface(name, surface, colour) {
    const { nv } = this;
    const known = this.meshes.get(name);
    if (known && surface.triangles.length > 0) {
      known.rgba255 = new Uint8Array([...colour, 255]);
      known.pts = surface.points;
      known.tris = surface.triangles;
      known.visible = true;
      known.updateMesh(nv.gl);
    } else if (known) {
      known.visible = false;
    } else if (surface.triangles.length > 0) {
      const mesh = new NVMesh(
        surface.points,
        surface.triangles,
        name,
        new Uint8Array([...colour, 255]),
        1,
        true,
        nv.gl,
      );
      nv.addMesh(mesh);
      this.meshes.set(name, mesh);
    }
  }

  // Paths coloured by direction; null removes them. Returns how many are drawn.
  setFibres(fibres) {
    const { nv } = this;
    const known = this.meshes.get("fibres");
    if (known) nv.removeMesh(known);
    this.meshes.delete("fibres");
    if (!fibres || fibres.offsets.length < 2) return 0;
    const areFibres = new Uint8Array([255, 255, 255, 0]); // alpha 0 says so
    const mesh = new NVMesh(fibres.positions, fibres.offsets, "fibres", areFibres, 1, true, nv.gl);
    mesh.fiberColor = "Local";
    mesh.fiberDither = 0;
    mesh.updateMesh(nv.gl);
    nv.addMesh(mesh);
    this.meshes.set("fibres", mesh);
    return mesh.offsetPt0.length - 1;
  }

  // A surface with a colour (rgba) for each of its points; null removes it.
  setColouredSurface(name, given, { opacity = 1, hasBack = false } = {}) {
    const { nv } = this;
    const known = this.meshes.get(name);
    if (known) nv.removeMesh(known);
    this.meshes.delete(name);
    if (!given || given.triangles.length === 0) return;
    const surface = hasBack ? addBack(given) : given;
    const mesh = new NVMesh(surface.points, surface.triangles, name, surface.rgba, opacity, true, nv.gl);
    nv.addMesh(mesh);
    this.meshes.set(name, mesh);
  }

  // From where the volume is seen.
  getCamera() {
    const { renderAzimuth, renderElevation, volScaleMultiplier } = this.nv.scene;
    return { azimuth: renderAzimuth, elevation: renderElevation, zoom: volScaleMultiplier };
  }

  setCamera({ azimuth, elevation, zoom }) {
    this.nv.setRenderAzimuthElevation(Number(azimuth), Number(elevation));
    if (zoom > 0) this.nv.setScale(Number(zoom));
  }

  // The first mesh takes a second or more, because its programs are compiled for it.
  warmUp() {
    const points = new Float32Array([0, 0, 0, 0.01, 0, 0, 0, 0.01, 0]);
    this.setSurface("warm up", { points, triangles: new Uint32Array([0, 1, 2]) }, [0, 0, 0]);
    this.nv.drawScene();
    this.setSurface("warm up", { points, triangles: new Uint32Array(0) }, [0, 0, 0]);
  }

  // Whether the subject's right is on the left.
  setRadiological(isRadiological) {
    this.nv.setRadiologicalConvention(isRadiological);
  }

  // Without an image, surfaces need not shine through it.
  forgetImage() {
    this.nv.opts.meshXRay = 0;
    this.nv.setScale(1);
  }

  // Letters would claim what is unknown.
  hideSides() {
    this.nv.opts.isOrientationTextVisible = false;
  }

  draw() {
    this.nv.drawScene();
  }

  // Waits until the picture exists, for timing.
  finish() {
    const { gl } = this.nv;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  moveTo(mm) {
    this.nv.scene.crosshairPos = this.nv.mm2frac(mm);
    this.nv.createOnLocationChange();
    this.nv.drawScene();
  }

  // Calls use({mm, voxel}) when the crosshair has moved.
  onMove(use) {
    this.nv.onLocationChange = (place) => use({ mm: Array.from(place.mm).slice(0, 3), voxel: Array.from(place.vox) });
  }

  // Thickness (mm) of what the planes show of surfaces and paths.
  setSlab(mm) {
    this.nv.opts.meshThicknessOn2D = Math.max(mm, 0.01);
  }

  // Paths under a name of their own; null or none removes them. Coloured by direction, by their values (a number per
  // point, `range` for the ends of the scale), or in one colour. `width`: radius of tubes in mm, 0 for lines.
  setStreamlines(name, fibres, { range = null, colour = null, width = 0 } = {}) {
    const { nv } = this;
    const known = this.meshes.get(name);
    if (known) nv.removeMesh(known);
    this.meshes.delete(name);
    if (!fibres || fibres.offsets.length < 2) return;
    const rgba = new Uint8Array([...(colour ?? [255, 255, 255]), 0]); // alpha 0: fibres
    const values = fibres.values && range ? [{ id: "value", vals: fibres.values }] : null;
    const mesh = new NVMesh(
      fibres.positions,
      fibres.offsets,
      name,
      rgba,
      1,
      true,
      nv.gl,
      "viridis",
      null,
      null,
      values,
    );
    mesh.fiberColor = values ? "DPV0" : colour ? "Fixed" : "Local";
    if (values) [mesh.dpv[0].cal_min, mesh.dpv[0].cal_max] = range;
    if (values) mesh.colormap = "viridis";
    mesh.fiberDither = 0;
    mesh.fiberRadius = width;
    mesh.updateMesh(nv.gl);
    nv.addMesh(mesh);
    this.meshes.set(name, mesh);
  }
}
