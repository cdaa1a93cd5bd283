// What is kept of a reader: the file of progress, parsed, and what stands in the editors; and how it changes.

window.kafkalearnStore = {
  EMPTY: () => ({ record: { format: "kafkalearn progress", version: 1, name: "", exercises: {} }, drafts: {} }),

  changed(kept, { entry, draft, prediction, whole }) {
    if (whole) return whole;
    if (entry) kept.record.exercises[entry.exercise] = entry.entry;
    if (draft && draft.text === null) delete kept.drafts[draft.exercise];
    else if (draft) kept.drafts[draft.exercise] = draft.text;
    if (prediction) (kept.record.predictions ??= {})[prediction.id] ??= prediction.made; // the first one counts
    return kept;
  },
};
