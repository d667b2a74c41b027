// One figure for each signal of a record. Trainers log some figures under several names: twice over, as a whole and as
// what is within it, or in parts. A dialect says which name counts, or that the parts add up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/figure_name.h"
#include "read/interpret/known_names.h"

namespace mw {

/// Where the record that is read has a signal.
struct SignalUse {
  uint64_t record = 0;                    ///< in which the signal was seen last
  size_t at = 0;                          ///< of its reading there
  const KnownName* by = nullptr;          ///< the name that it has the signal from; of a sum the first
  double written = 0;                     ///< what that name says
  std::vector<std::string_view> parts;    ///< of a sum
  std::shared_ptr<const FigureName> sum;  ///< the last one
};

class OneOfEach {
 public:
  /// The readings that follow are of another record, and go into another list.
  void begin_record() { ++record_; }
  /// Adds the reading of `name` to `readings`. Where the record has a reading of its signal, the name that stands first
  /// in the dialect keeps the signal and the other stays under its own name alone; of two parts the sum is the
  /// signal's, and each stays under its own name, too. `value` is as written.
  void add(KnownName& name, double value, Reading&& reading, std::vector<Reading>& readings);

 private:
  static Reading under_own_name(const KnownName& name, double value) { return {"", name.raw, value}; }
  static void add_part(SignalUse& use, const KnownName& name, double value, const Reading& reading,
                       std::vector<Reading>& readings);

  std::unordered_map<std::string, SignalUse> uses_;
  uint64_t record_ = 0;
};

}  // namespace mw
