// Listens to the person, and begins. All computing is the program's, in workers.
"use strict";

function listen() {
  const drop = at("drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    dropped(await ofDrop(event.dataTransfer.items));
  });
  at("choose").addEventListener("click", () => at("files").click());
  at("folder").addEventListener("click", () => at("folders").click());
  for (const id of ["files", "folders"]) {
    at(id).addEventListener("change", () =>
      dropped([...at(id).files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))));
  }
  for (const id of ["window", "hop"]) at(id).addEventListener("input", showWindow);
  at("price-board").addEventListener("change", showWindow);
  at("front").addEventListener("change", probe);
  at("train").addEventListener("click", train);
  at("cancel").addEventListener("click", () => program.cancel());
  at("project").addEventListener("click", saveProject);
}

/// What the page was made with.
function given() {
  const { files, model, report } = JSON.parse(at("given").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return { files: files.map(([path, text]) => ({ path, file: new Blob([bytes(text)]) })), model: model && [model[0], bytes(model[1])], report };
}

async function begin() {
  pristine = document.documentElement.cloneNode(true);
  at("foot").textContent = program.isThere ? WORDS.foot : WORDS.footSmall;
  at("licences").parentElement.hidden = at("licences-packed").textContent === "";
  at("licences").parentElement.addEventListener("toggle", showLicences, { once: true });
  at("series").addEventListener("change", showSeries);
  const { files, model, report } = given();
  if (report) showReport(report);
  else at("about").textContent = program.isThere ? WORDS.about : WORDS.aboutSmall;
  if (report && !model) return undefined;
  at("drop-words").textContent = program.isThere ? WORDS.drop : WORDS.dropSmall;
  at("phone-words").textContent = WORDS.phone;
  show("data");
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    at("state").textContent = WORDS.unsupported;
    return undefined;
  }
  at("state").textContent = WORDS.waking;
  listen();
  listenLive();
  listenBoard();
  // The page is there at once; what is dropped waits for the program.
  if (program.isThere) await program.start();
  await live.start();
  if (model) await takeGiven(...model);
  else if (program.isThere) showBoard();
  at("state").textContent = WORDS.ready;
  return files.length > 0 ? dropped(files) : undefined;
}

/// Opens the model that the page was made with.
async function takeGiven(name, bytes) {
  try {
    if (program.isThere) {
      state.isGiven = true;
      await takeModel(name, bytes);
    } else await showLive(bytes);
    at("model-words").textContent = WORDS.given(name, state.info?.classes ?? []);
    show("given-model");
  } catch (error) {
    at("model-words").textContent = error.message;
    show("given-model");
  }
}

function showLicences() {
  at("licences").textContent = new TextDecoder().decode(unpacked(at("licences-packed").textContent));
}

begin();
