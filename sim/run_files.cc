#include "sim/run_files.h"

#include "base/text.h"

namespace mw::sim {

void RunFile::write(std::string_view bytes) {
  if (bytes.empty()) return;
  renamed_ = renamed_ || !disk_.exists(path_);
  disk_.write(path_, bytes);
  written_ = true;
}

void RunFile::line(std::string_view text) {
  const size_t before = buffered_.size();
  buffered_.append(text).push_back('\n');
  size_t ready = buffered_.size();
  if (flush_ == Flush::kBlocks) ready = buffered_.size() / kBlock * kBlock;
  if (flush_ == Flush::kTorn) ready = before + prng_.below(text.size() + 1);
  write(std::string_view(buffered_).substr(0, ready));
  buffered_.erase(0, ready);
}

void RunFile::flush() {
  write(buffered_);
  buffered_.clear();
}

/// Every rotated part moves one further.
void RunFile::make_room() {
  for (int part = parts_; part >= 1; --part) disk_.move(cat(path_, ".", part), cat(path_, ".", part + 1));
  ++parts_;
  renamed_ = true;
}

void RunFile::rotate() {
  flush();
  if (!disk_.exists(path_)) return;
  make_room();
  disk_.move(path_, path_ + ".1");
  disk_.put(path_, "");
}

void RunFile::copy_and_truncate() {
  if (!disk_.exists(path_)) return;
  make_room();
  disk_.put(path_ + ".1", disk_.content(path_));
  disk_.put(path_, "");
  written_ = true;
}

void RunFile::begin_anew(bool fresh) {
  buffered_.clear();
  if (!disk_.exists(path_)) return;
  rewritten_ = true;
  renamed_ = true;
  if (fresh) disk_.unlink(path_);
  disk_.put(path_, "");
}

}  // namespace mw::sim
