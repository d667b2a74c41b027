#include "app/fleet.h"

#include <memory>

#include "app/fleet_beat.h"
#include "app/fleet_desk.h"
#include "app/fleet_list.h"
#include "app/fleet_offers.h"

namespace mw {

using What = FleetRequest::What;

namespace {

/// By the specification that is in force now: whoever lowers a limit and puts the file into the store need not know
/// where controllers stay.
Result<FleetAnswer> check_anew(Disk& disk, const std::string& file) {
  const auto desk = FleetDesk::open(disk, file);
  if (!desk.ok()) return desk.error();
  MW_TRY((*desk)->know());
  return (*desk)->check(What::kWatch);
}

}  // namespace

Result<FleetAnswer> manage_fleet(Disk& disk, const FleetRequest& request) {
  if (request.what == What::kUnfit) {
    auto said = say_unfit(disk, request.reason);
    if (!said.ok()) return said.error();
    FleetAnswer answer;
    answer.done.push_back(std::move(*said));
    return answer;
  }
  if (request.what == What::kList) return list_fleet(disk, request);
  if (request.what == What::kOffers && request.file.empty()) return search_offers(request);
  if (const auto info = disk.info(request.file);
      request.what == What::kStatus && info.ok() && info->kind == FileInfo::Kind::kFolder) {
    FleetRequest list = request;
    list.files = {request.file};
    list.store = {};
    return list_fleet(disk, list);
  }
  const auto desk = FleetDesk::open(disk, request.file);
  if (!desk.ok()) return desk.error();
  if (request.what == What::kInit) return (*desk)->init();
  MW_TRY((*desk)->know());
  if (request.what == What::kOffers) return (*desk)->offers();
  if (request.what == What::kPreview) return (*desk)->preview();
  if (request.what == What::kOrphans) return (*desk)->orphans();
  if (request.what == What::kAdopt) return (*desk)->adopt(request);
  if (request.what != What::kWatch || request.every.ns <= 0) return (*desk)->check(request.what);
  for (;;) {  // until a signal ends it: killed anywhere, the next one goes on with what was begun
    request.checked(check_anew(disk, request.file));
    sleep_for(request.every);
  }
}

}  // namespace mw
