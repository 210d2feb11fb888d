// Saves what is shown as files of the browser's user.

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// `header`: the first bytes of a NIfTI file of the same image, up to its values. `values`: float32.
export function saveNifti(header, values, name) {
  save(new Blob([header, values], { type: "application/octet-stream" }), name);
}

// A view's picture must be read in the task in which it was drawn.
export function savePicture(view, name) {
  view.draw();
  view.canvas.toBlob((blob) => save(blob, name));
}

export function saveText(text, name) {
  save(new Blob([text], { type: "application/json" }), name);
}

export function saveBytes(bytes, name) {
  save(new Blob([bytes], { type: "application/octet-stream" }), name);
}
