#include "verbs/link_files.h"

#include <utility>

#include "archive/output_options.h"
#include "base/buffered_output.h"
#include "sink/publication.h"

namespace onnxar {

void LinkFiles::add(base::OutputTarget target, const ByteSource& bytes) {
  if (options_.dry_run) return;
  base::BufferedOutput out(base::OutputFile::create(std::move(target), existing_of(options_)), options_.sync);
  out.reserve(bytes.size());
  out.append(bytes);
  files_.push_back(std::move(out).finish());
  if (files_.size() > most_open) files_.back().park(sync_of(options_));
}

void LinkFiles::publish() && {
  // `prepare` and `stage` may fail on a full disk, so all files pass them before the first gets its name.
  for (base::OutputFile& file : files_) file.prepare(sync_of(options_));
  for (base::OutputFile& file : files_) file.stage();
  Publication publication(existing_of(options_), sync_of(options_));
  for (base::OutputFile& file : files_) {
    publication.publish(file);
    if (&file == &files_.front() || &file == &files_.back()) publication.sync_names();
  }
  publication.keep();
}

}  // namespace onnxar
