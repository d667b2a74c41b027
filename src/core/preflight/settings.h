// The settings that a training command would run with, each with the place where it stands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mw::preflight {

/// Where a setting stands.
struct Place {
  std::string file;   ///< as the command names it; "": the command line
  uint32_t line = 0;  ///< 1-based; 0: not known
  bool operator==(const Place&) const = default;
};

/// "rl.toml:12", "the command line".
std::string place_text(const Place& place);

/// One value of a configuration file, or one argument of the command.
struct Setting {
  enum class Kind { kText, kNumber, kTruth, kNone, kTable, kList };
  std::string key;  ///< with dots between the tables: "orchestrator.env.0.id"; items of lists by number
  Kind kind = Kind::kText;
  std::string text;   ///< of what is no table: as written, without quotes
  double number = 0;  ///< of a number; 1 or 0 of true or false; of a list, how many items
  Place place;
  bool unsure = false;  ///< it holds something that only the shell or the framework knows when it runs
};

/// A setting with the kind that its text shows: "4096", "true", "null", "[0,1]", anything else.
Setting read_scalar(std::string key, std::string_view text, Place place);

/// All settings of one command. What is put later wins, as an argument wins over a file.
class Settings {
 public:
  static constexpr size_t kLimit = 20'000;  ///< settings; more are left out, and truncated() says so

  /// Replaces what had that key and, where one of the two is no table, all that lies below it.
  void put(Setting setting);
  /// Takes a key and all below it away, as hydra's `~key` does.
  void remove(std::string_view key);
  /// nullptr: not set.
  const Setting* find(std::string_view key) const;
  /// Set, or a table with something in it.
  bool has(std::string_view key) const;
  const std::map<std::string, Setting, std::less<>>& all() const { return all_; }
  bool truncated() const { return truncated_; }

 private:
  std::map<std::string, Setting, std::less<>> all_;
  bool truncated_ = false;
};

/// "a.b.0.c" as "a.b.*.c": how lists of keys name what stands in a list.
std::string without_numbers(std::string_view key);

}  // namespace mw::preflight
