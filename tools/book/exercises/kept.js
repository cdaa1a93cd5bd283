// What is kept of a reader: the file of progress, parsed, what stands in the editors, and where the reader has stopped on
// each page; and how it changes.

window.kafkalearnStore = {
  EMPTY: () => ({ record: { format: "kafkalearn progress", version: 1, name: "", exercises: {} }, drafts: {}, places: {} }),

  changed(kept, { entry, draft, prediction, place, whole }) {
    if (whole) return { places: kept.places, ...whole };
    if (entry) kept.record.exercises[entry.exercise] = entry.entry;
    if (draft && draft.text === null) delete kept.drafts[draft.exercise];
    else if (draft) kept.drafts[draft.exercise] = draft.text;
    if (prediction) (kept.record.predictions ??= {})[prediction.id] ??= prediction.made; // the first one counts
    if (place) {
      const { page, ...there } = place;
      delete kept.places[page]; // the page read last stands at the end
      kept.places[page] = there;
    }
    return kept;
  },
};
