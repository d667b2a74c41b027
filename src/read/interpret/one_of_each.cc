#include "read/interpret/one_of_each.h"

#include <algorithm>
#include <utility>

namespace mw {

void OneOfEach::add_part(SignalUse& use, const KnownName& name, double value, const Reading& reading,
                         std::vector<Reading>& readings) {
  if (use.parts.empty()) {
    use.parts.push_back(use.by->raw);
    readings.push_back(under_own_name(*use.by, use.written));
  }
  // One name for the sum, whichever part a sink writes first.
  use.parts.insert(std::upper_bound(use.parts.begin(), use.parts.end(), name.raw), name.raw);
  std::string sum;
  for (const std::string_view part : use.parts) sum.append(sum.empty() ? "" : " + ").append(part);
  if (use.sum == nullptr || use.sum->raw != sum) use.sum = std::make_shared<const FigureName>(reading.signal(), sum);
  readings[use.at] = Reading(use.sum, readings[use.at].value + reading.value);
  readings.push_back(under_own_name(name, value));
}

void OneOfEach::add(KnownName& name, double value, Reading&& reading, std::vector<Reading>& readings) {
  if (reading.signal().empty()) {
    readings.push_back(std::move(reading));
    return;
  }
  if (name.use == nullptr) name.use = &uses_[reading.signal()];
  SignalUse& use = *name.use;
  if (use.record != record_) {
    use.record = record_;
    use.at = readings.size();
    use.by = &name;
    use.written = value;
    use.parts.clear();
    readings.push_back(std::move(reading));
  } else if (use.by->means.part && name.means.part) {
    add_part(use, name, value, reading, readings);
  } else if (name.means.rank < use.by->means.rank && use.parts.empty()) {
    readings[use.at] = std::move(reading);
    readings.push_back(under_own_name(*use.by, use.written));
    use.by = &name;
    use.written = value;
  } else {
    readings.push_back(under_own_name(name, value));
  }
}

}  // namespace mw
