// JSON documents that hold a figure's values as a list of numbers: {"loss": [0.5, …], "reward": [0.1, …]}, and the same
// within objects that name a task, a seed, a split or nothing but the history.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/files/row_builder.h"

namespace mw {

class JsonArrays {
 public:
  static constexpr size_t kPointLimit = 2'000'000;  ///< numbers of a document; further ones are left out
  static constexpr size_t kListLimit = 4096;        ///< lists of a document that has more are no figures
  static constexpr size_t kArmLimit = 64;           ///< beyond so many they are no arms
  static constexpr int kDeepest = 4;                ///< objects within objects
  static constexpr size_t kLeast = 5;               ///< values of a figure within an object

  /// False where the JSON object `text` is no such document.
  bool read(std::string_view text);
  /// Hands over a row for each step of each arm, numbered behind `rows`; the number of the last one. Where there are
  /// several arms each row has a text "arm".
  uint64_t hand_over(uint64_t rows, RowBuilder& row, RecordSink& sink) const;

 private:
  struct List {
    std::vector<std::string> path;  // its own name is the last
    std::vector<double> values;
    std::string figure, arm;     // what they are called
    const List* axis = nullptr;  // has the steps of the values; none: they are counted
    size_t stride = 1;           // of so many of which each value is of the last one
    int rank = -1;               // how well it does as such an axis, 0 being best; -1: not at all
    bool counts() const { return rank >= 0; }
  };
  bool walk(std::string_view object, std::vector<std::string>& path);
  void drop_others();
  bool is_history() const;
  void name_lists();
  void name_arms();
  void find_axes();
  void find_axis(List& list, const std::vector<const List*>& axes) const;
  void drop_what_fits_no_step();
  uint64_t hand_over_arm(std::string_view arm, uint64_t rows, RowBuilder& row, RecordSink& sink) const;

  std::vector<List> lists_;
  std::vector<std::string> arms_;  // in order; one "" where there are none
  size_t points_ = 0;
  size_t others_ = 0;   // members of the document that are neither lists of numbers nor plain values
  bool nested_ = true;  // objects within it hold no lists of objects
};

/// What the values of a list are called one by one: "rewards_per_episode" is "reward", "loss_history" is "loss".
std::string name_of_one(std::string_view list);

}  // namespace mw
