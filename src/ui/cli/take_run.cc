#include "ui/cli/take_run.h"

#include "base/text.h"

namespace mw {

void declare_which(ArgSpec& spec) {
  spec.option("run", "NAME",
              "which recorded run: its name, the beginning of it, or its folder (default: the live one, "
              "or with none live the one that was written last)");
  spec.or_bare();
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
}

void declare_run(ArgSpec& spec) {
  spec.positional("paths", "files or directories of one run, or the name of a recorded one; none: a recorded run", true,
                  false);
  declare_which(spec);
  spec.option("framework", "NAME", "do not recognise the framework, use this dialect");
  spec.option("timezone", "ZONE",
              "of clocks that name none: UTC, local, +08:00 (default: by W&B's folder or by the steps of "
              "a file with a zone, else UTC)");
  spec.option("knowledge", "DIR", "also load dialects, signatures and rules from DIR");
  spec.option("arm", "NAME", "of several arms of an experiment in one file (seeds, methods) this one");
}

Error one_run_wanted(const std::string& folder, const Replayed& replayed) {
  std::string paths;
  for (const FolderRun& run : replayed.runs) {
    for (const std::string& path : run.paths) paths += cat(paths.empty() ? "" : ", ", path);
  }
  return Error{Error::Code::kInvalid, cat(replayed.runs.size(), " runs lie in ", folder, ", and one is wanted here"),
               cat("Give one of them: ", paths)};
}

Result<std::unique_ptr<Replayed>> replay_known(const ReplayRequest& request, Services& services) {
  auto replayed = services.replay(request);
  if (replayed.ok() && !(*replayed)->runs.empty()) return one_run_wanted(request.paths.front(), **replayed);
  if (!replayed.ok() || !(*replayed)->unknown || (*replayed)->partial) return replayed;
  return Error{Error::Code::kUnsupported,
               cat("nothing in ", request.paths.front(), " is what a run writes, as far as midwatch knows"),
               std::string(kGiveRun)};
}

Result<std::unique_ptr<Replayed>> recorded_instead(Result<std::unique_ptr<Replayed>> replayed, const std::string& name,
                                                   const std::string& home, Services& services, const Heard& heard) {
  if (replayed.ok() || replayed.error().code != Error::Code::kNotFound) return replayed;
  if (name.find('/') != std::string::npos) return replayed;
  const auto folder = services.choose(home, name);
  if (folder.ok()) return services.recorded("", *folder, heard);
  if (folder.error().code != Error::Code::kNotFound) return replayed;
  return Error{Error::Code::kNotFound, cat("nothing is called ", name, ": no file or folder, and no recorded run"),
               "midwatch runs lists the recorded ones; a path may be given as well."};
}

Result<std::unique_ptr<Replayed>> take_run(const Args& args, Services& services, const Heard& heard) {
  return take_run_of(args.list("paths"), args, services, heard);
}

Result<std::unique_ptr<Replayed>> take_run_of(const std::vector<std::string>& paths, const Args& args,
                                              Services& services, const Heard& heard) {
  if (paths.empty()) return services.recorded(args.get("home"), args.get("run"), heard);
  if (args.has("run")) {
    return Error{Error::Code::kInvalid, "--run names a recorded run, and paths are read anew",
                 "Leave one of them out."};
  }
  ReplayRequest request;
  request.paths = paths;
  request.framework = args.get("framework");
  request.timezone = args.get("timezone");
  request.knowledge = args.list("knowledge");
  request.heard = heard;
  request.arm = args.get("arm");
  auto replayed = replay_known(request, services);
  if (request.paths.size() > 1) return replayed;
  return recorded_instead(std::move(replayed), request.paths.front(), args.get("home"), services, heard);
}

}  // namespace mw
