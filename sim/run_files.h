// What the processes of a simulated run do to their files: buffer, write in pieces, rotate, cut and begin anew.
#pragma once

#include <string>
#include <string_view>

#include "base/prng.h"
#include "platform/fake/fake_disk.h"

namespace mw::sim {

/// One file that a process writes, in the manner that the seed gives it.
class RunFile {
 public:
  /// How what is printed gets into the file.
  enum class Flush {
    kLines,   ///< each line at once
    kBlocks,  ///< whole blocks only, as a pipe's or file's buffer does: lines are cut anywhere
    kTorn,    ///< each line in two pieces, the second one with the next line
    kCount
  };

  RunFile(FakeDisk& disk, std::string path, Prng prng, Flush flush)
      : disk_(disk), path_(std::move(path)), prng_(prng), flush_(flush) {}

  void line(std::string_view text);
  /// Writes what is buffered; the process ends in order.
  void flush();
  /// The process is killed: what is buffered is lost.
  void lose() { buffered_.clear(); }

  /// logrotate: the file is renamed and a new one begun.
  void rotate();
  /// logrotate's copytruncate: the content is copied away, and the file cut to nothing.
  void copy_and_truncate();
  /// A new process opens it for writing: its content is gone. `fresh`: it is removed first, so that it is another file.
  void begin_anew(bool fresh);

  const std::string& path() const { return path_; }
  bool renamed() const { return renamed_; }      ///< names changed since forget_news()
  bool written() const { return written_; }      ///< bytes came since forget_news()
  bool rewritten() const { return rewritten_; }  ///< what it held at some time is gone
  void forget_news() { renamed_ = written_ = false; }

 private:
  static constexpr size_t kBlock = 700;  // bytes: small, so that lines are cut often

  void write(std::string_view bytes);
  void make_room();

  FakeDisk& disk_;
  std::string path_;
  Prng prng_;
  Flush flush_;
  std::string buffered_;
  int parts_ = 0;
  bool renamed_ = false, written_ = false, rewritten_ = false;
};

}  // namespace mw::sim
