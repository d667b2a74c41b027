// What the dialects of the practice run share: a log file, and pieces of time stamps.
#pragma once

#include <cstdio>
#include <string>

#include "practice/speak.h"

namespace practice {

/// A text file that is written line by line, as a trainer's standard output is.
class LogFile {
 public:
  /// `folder` "": standard output for the log, nothing for other files.
  LogFile(const std::string& folder, const std::string& name);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  [[gnu::format(printf, 2, 3)]] void line(const char* form, ...);

 private:
  std::FILE* file_;
};

/// "2026-01-15 08:00:00,123" for joint ' ' and point ','.
std::string iso(const Clock& clock, char joint, char point);

/// As Python's json writes it.
std::string json_number(double value);

std::unique_ptr<Speaker> make_skyrl(const std::string& folder, Clock& clock);
std::unique_ptr<Speaker> make_prime_rl(const std::string& folder, Clock& clock);

}  // namespace practice
