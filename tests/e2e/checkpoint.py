"""midwatch checkpoint with the real program on the sample checkpoints that real libraries wrote (tests/checkpoints/samples)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from running import PROGRAM, Run, training
from watching import Scratch

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "checkpoints" / "samples"
SAVED = 1768465800  # 2026-01-15, long ago


def age(folder):
    """Nothing in it was written lately."""
    for place in pathlib.Path(folder).rglob("*"):
        os.utime(place, (SAVED, SAVED))


def copied(base, sample):
    target = f"{base}/{sample}"
    shutil.copytree(SAMPLES / sample, target)
    age(target)
    return target


def midwatch(base, *args, columns="80"):
    environment = {**os.environ, "MIDWATCH_HOME": base + "/home", "COLUMNS": columns, "NO_COLOR": "1"}
    done = subprocess.run([PROGRAM, "checkpoint", *args], cwd=base, env=environment, capture_output=True, timeout=60, check=False)
    text = done.stdout.decode()
    assert all(len(line) <= 80 for line in text.split("\n")) or "--json" in args or base in text, text
    return done.returncode, text + done.stderr.decode()


def verified(base, *args):
    code, text = midwatch(base, "verify", "--json", *args)
    return code, json.loads(text)


def state_of(base, *args):
    code, answer = verified(base, *args)
    return code, answer["checkpoints"][0]["state"]


def one_file_for_each_step(base):
    """Files of steps in one folder are checkpoints of their own; each can be pushed."""
    root = pathlib.Path(base + "/files")
    root.mkdir()
    good = (SAMPLES.parent / "single" / "best_val.pt").read_bytes()
    for step in (100, 200, 300):
        (root / f"ckpt_{step}.pt").write_bytes(good if step != 300 else good[:4000])
    age(root)
    for asked in (root, root / "ckpt_300.pt"):
        code, answer = verified(base, str(asked))
        assert code == 10 and answer["checkpoints"][-1]["state"] == "partial", answer
        assert answer["resume_from"] == str(root / "ckpt_200.pt"), answer["resume_from"]
    code, text = midwatch(base, "verify", str(root))
    assert "200" in text and "No whole checkpoint" not in text, text
    # The newest that is not broken, a step that is asked for, and a file by its name; each comes back in a folder of its own.
    for i, (asked, step) in enumerate((([str(root)], 200), ([str(root), "--step", "100"], 100), ([str(root / "ckpt_200.pt")], 200))):
        store = f"{base}/store-{i}"
        code, text = midwatch(base, "push", *asked[:1], store, *asked[1:])
        assert code == 0 and f"step {step}: {root}/ckpt_{step}.pt" in text and "  1 file, " in text, (code, text)
        code, text = midwatch(base, "pull", store, base + "/back/" + os.path.basename(store))
        assert code == 0 and (pathlib.Path(base) / "back" / os.path.basename(store) / f"ckpt_{step}.pt").read_bytes() == good, (code, text)
    for asked in ([str(root), "--step", "300"], [str(root / "ckpt_300.pt")]):
        code, text = midwatch(base, "push", *asked[:1], base + "/none", *asked[1:])
        assert code == 2 and "the checkpoint is broken" in text, (code, text)
    code, text = midwatch(base, "push", str(root), base + "/none", "--step", "150")
    assert code != 0 and "there is no checkpoint of step 150" in text and not os.path.exists(base + "/none"), (code, text)


def whole_trees_are_whole(base):
    """Every sample is whole, structurally and deeply; what is whole but holds no optimizer is not resumable."""
    root = base + "/all"
    shutil.copytree(SAMPLES, root)
    age(root)
    for deep in ([], ["--deep"]):
        code, answer = verified(base, root, *deep)
        states = {one["path"]: one["state"] for one in answer["checkpoints"]}
        assert code == 0 and set(states.values()) == {"whole"} and len(states) == 39, (code, states)
        assert answer["resume_from"] is None
    exports = [one for one in answer["checkpoints"] if one["resumable"] == "no"]
    assert {pathlib.Path(one["path"]).parent.name for one in exports} == {"areal-export", "torch-bin", "torch-legacy", "megatron-zarr"}, exports
    code, text = midwatch(base, "list", root)
    assert code == 0 and text.count("whole") == 39, text
    os.makedirs(base + "/notes")
    pathlib.Path(base + "/notes/a.txt").write_text("no checkpoint", encoding="utf-8")
    assert state_of(base, base + "/notes") == (4, "foreign")


def a_broken_one_is_explained(base):
    """A missing rank and a cut file are named, and the one before is offered."""
    root = copied(base, "verl")
    newest = root + "/global_step_20"
    os.unlink(newest + "/actor/model_world_size_2_rank_1.pt")
    os.truncate(newest + "/actor/optim_world_size_2_rank_0.pt", 500)
    assert state_of(base, newest) == (5, "writing")  # a file of it was written just now
    age(root)
    code, text = midwatch(base, "verify", newest)
    words = " ".join(text.split())  # however the lines are broken
    assert code == 10 and text.startswith("PARTIAL") and "1 of 2 ranks are there" in words and "Resume from " in words, (code, text)
    assert "latest_checkpointed_iteration.txt names this one" in words, text
    code, answer = verified(base, root)
    assert code == 10 and answer["resume_from"].endswith("/global_step_10") and answer["resume_from_step"] == 10, answer
    os.unlink(root + "/global_step_10/data.pt")
    assert verified(base, newest)[1]["resume_from"] is None


def an_older_broken_one_stops_no_resume(base):
    root = copied(base, "verl")
    os.unlink(root + "/global_step_10/actor/model_world_size_2_rank_1.pt")
    code, answer = verified(base, root)
    assert code == 10 and answer["resume_from"] == root + "/global_step_20" and answer["resume_from_step"] == 20, answer


def words_of(base, *args):
    """What a person reads, however the lines are broken."""
    code, text = midwatch(base, *args)
    return code, " ".join(text.split())


def a_pointer_is_looked_at_beside_several(base):
    """A table of whole ones is no answer where a resume would take none of them."""
    root = copied(base, "slime")
    pointer = root + "/latest_checkpointed_iteration.txt"
    for text, said in (("30", "names step 30, which is not there"), ("", "is empty"), ("10", "still names step 10")):
        pathlib.Path(pointer).write_text(text, encoding="utf-8")
        for verb in ("verify", "list"):
            code, shown = words_of(base, verb, root)
            lies = verb == "verify" and text != "10"  # a script must not take it for well
            assert code == (10 if lies else 0) and "latest_checkpointed_iteration.txt " + said in shown, (code, text, shown)
            assert shown.count("latest_checkpointed_iteration.txt") == 1, shown
    for text, wanted, said in (("30", 3, "names no checkpoint"), ("", 3, "it is empty"), ("20", 0, "iter_0000020")):
        pathlib.Path(pointer).write_text(text, encoding="utf-8")
        code, shown = words_of(base, "verify", pointer)
        assert code == wanted and said in shown, (text, code, shown)
    os.unlink(pointer)
    os.mkdir(pointer)
    for verb in ("verify", "list"):
        code, shown = words_of(base, verb, root)
        assert code == (10 if verb == "verify" else 0) and "latest_checkpointed_iteration.txt is a folder" in shown, shown
    code, shown = words_of(base, "verify", pointer)
    assert code == 3 and "is a folder" in shown, (code, shown)
    os.rmdir(pointer)
    os.symlink("iter_0000030", root + "/latest")
    code, shown = words_of(base, "verify", root)
    assert code == 10 and "latest is a link that leads nowhere" in shown, (code, shown)
    assert words_of(base, "verify", root + "/latest")[0] == 3
    os.unlink(root + "/latest")
    shown = words_of(base, "verify", root)[1]
    assert "leads nowhere" not in shown and shown.count("latest") == 1 and "is not beside it" in shown, shown


def what_to_do_is_said_in_the_trainers_words(base):
    """Whoever reads it at night does not have to know the words of each trainer."""
    for sample, lost, said in (("verl", "actor/model_world_size_2_rank_0.pt", "trainer.resume_from_path={}/global_step_10"),
                               ("trl", "model.safetensors", "--resume_from_checkpoint {}/checkpoint-10"),
                               ("slime", "common.pt", "when latest_checkpointed_iteration.txt beside it says 10, started with --load {}"),
                               ("nemo-rl", "training_info.json", "move the later ones out of {} first")):
        root = copied(base, sample)
        for newest in ("global_step_20", "checkpoint-20", "iter_0000020", "step_20"):
            if os.path.isdir(f"{root}/{newest}"):
                os.truncate(f"{root}/{newest}/{lost}", 0)
        age(root)
        for verb in ("verify", "list"):
            shown = words_of(base, verb, root)[1]
            assert said.format(root) in shown, (sample, shown)
            assert lost in shown, shown  # `list`, too, says why


def each_framework_has_its_own_way_back(base):
    """The words of each trainer of docs/checkpoints.md, with the newest checkpoint cut at one file."""
    cases = (("skyrl", "", "global_step_20/policy/model_world_size_2_rank_0.pt", "global_step_10",
              "skyrl resumes from it with trainer.resume_mode=from_path trainer.resume_path={root}/global_step_10"),
             ("verl", "", "global_step_20/actor/model_world_size_2_rank_0.pt", "global_step_10",
              "verl resumes from it with trainer.resume_mode=resume_path trainer.resume_from_path={root}/global_step_10"),
             ("prime-rl", "/checkpoints", "step_20/trainer/.metadata", "step_10",
              "prime-rl resumes from it with --ckpt.resume-step 10 (where its command has --ckpt.), or --resume.step 10"),
             ("openrlhf", "/_actor", "global_step20/mp_rank_00_model_states.pt", "global_step10",
              "openrlhf resumes from it when latest beside it says global_step10, started with --ckpt.load_enable "
              "(where its command has --ckpt.), or --load_checkpoint"),
             ("trl", "", "checkpoint-20/model.safetensors", "checkpoint-10",
              "transformers resumes from it with --resume_from_checkpoint {root}/checkpoint-10"),
             ("slime", "", "iter_0000020/common.pt", "iter_0000010",
              "slime resumes from it when latest_checkpointed_iteration.txt beside it says 10, started with --load {root}"),
             ("nemo-rl", "", "step_20/training_info.json", "step_10",
              "nemo-rl takes the highest step that it finds: move the later ones out of {root} first"))
    for sample, below, lost, back, said in cases:
        root = copied(base, sample) + below
        os.truncate(f"{root}/{lost}", 0)
        age(root)
        newest = f"{root}/{lost.split('/', 1)[0]}"
        code, answer = verified(base, newest)
        assert code == 10 and answer["resume_from"] == f"{root}/{back}", (sample, answer)
        shown = words_of(base, "verify", newest)[1]
        assert said.format(root=root) in shown, (sample, shown)


def a_save_that_never_got_its_name_hides_none(base):
    """What lies beside a half-written save is offered, and a trainer that does not take such a name needs nothing moved."""
    for sample, below, newest, unnamed, lost in (
            ("prime-rl", "/checkpoints", "step_20", "step_40.tmp", "trainer/.metadata"),
            ("nemo-rl", "", "step_20", "tmp_step_40", "policy/weights/.metadata")):
        root = copied(base, sample) + below
        shutil.copytree(f"{root}/{newest}", f"{root}/{unnamed}")
        os.unlink(f"{root}/{unnamed}/{lost}")
        age(root)
        code, answer = verified(base, root)
        assert code == 10 and answer["resume_from"] == f"{root}/{newest}", (sample, answer["resume_from"])
        shown = words_of(base, "verify", root)[1]
        assert "move the later ones" not in shown and f"Resume from {root}/{newest}" in shown, shown


def areal_resumes_from_its_slot(base):
    """Its exports have weights alone: what it resumes from is the slot of the trial, whichever of its folders is named."""
    trial = copied(base, "areal")
    for step in (10, 20):
        name = f"epoch0epochstep{step}globalstep{step}"
        shutil.copytree(f"{SAMPLES}/areal-export/{name}", f"{trial}/default/{name}")
    newest = f"{trial}/default/epoch0epochstep20globalstep20"
    os.truncate(newest + "/model.safetensors", 500)
    age(trial)
    for path in (newest, trial):
        code, answer = verified(base, path)
        assert code == 10 and answer["resume_from"] == trial and answer["resume_from_step"] == 20, answer
        shown = words_of(base, "verify", path)[1]
        assert "areal resumes from it with recover.mode=on" in shown, shown
    for part in ("default/recover_checkpoint", "recover_info"):
        code, answer = verified(base, f"{trial}/{part}")
        assert code == 0 and [one["path"] for one in answer["checkpoints"]] == [trial], answer
    os.unlink(trial + "/recover_info/dataloader_info.pkl")  # now nothing resumes, and the older weights are left
    age(trial)
    code, answer = verified(base, trial)
    assert code == 10 and answer["resume_from"].endswith("globalstep10"), answer
    assert "recover.mode" not in words_of(base, "verify", trial)[1]


def actor_and_critic_resume_together(base):
    """OpenRLHF keeps a tree for each, with the same folders in both."""
    root = copied(base, "openrlhf")
    shutil.copytree(root + "/_actor", root + "/_critic")
    os.truncate(root + "/_actor/global_step20/mp_rank_00_model_states.pt", 0)
    age(root)
    answer = verified(base, root + "/_actor/global_step20")[1]
    assert answer["resume_from"] == root + "/_actor/global_step10", answer
    assert answer["resume_with"] == [root + "/_critic/global_step10"], answer
    pathlib.Path(root + "/_critic/latest").write_text("global_step30", encoding="utf-8")
    said = "names step 30, which is not there: a resume finds nothing; step 20 is the newest that lies in _critic and in _actor"
    assert said in words_of(base, "verify", root + "/_critic")[1]


def odd_places_are_named_for_what_they_are(base):
    """Empty folders, links, what nobody may read, addresses with a typing error: no wrong verdict, and what to do."""
    os.makedirs(base + "/empty/a/b")
    assert state_of(base, base + "/empty") == (4, "foreign")
    assert "no file is in it" in words_of(base, "verify", base + "/empty")[1]
    os.makedirs(base + "/global_step_7")
    age(base)
    assert state_of(base, base + "/global_step_7") == (10, "partial")  # a save that came to nothing
    code, shown = words_of(base, "verify", "")
    assert code == 2 and "a path is empty" in shown, (code, shown)
    code, shown = words_of(base, "verify")
    assert code == 3 and "midwatch checkpoint verify PATH" in shown, (code, shown)
    root = copied(base, "verl")
    os.symlink("global_step_20", root + "/latest")
    os.symlink(root, root + "/round")
    for path, wanted in ((root, ["global_step_10", "global_step_20"]), (root + "/latest", ["global_step_20"])):
        code, answer = verified(base, path)
        assert code == 0 and [os.path.basename(one["path"]) for one in answer["checkpoints"]] == wanted, answer
    os.symlink("nowhere", root + "/gone")
    code, shown = words_of(base, "verify", root + "/gone")
    assert code == 3 and "leads nowhere" in shown, (code, shown)
    weights = copied(base, "trl") + "/checkpoint-20/model.safetensors"
    os.unlink(weights)
    os.symlink("../../blobs/0123", weights)  # as a cache of a hub has them
    code, answer = verified(base, os.path.dirname(weights))
    assert code == 10 and answer["checkpoints"][0]["state"] == "partial", answer
    assert "leads nowhere" in answer["checkpoints"][0]["problems"][0]["what"], answer
    code, shown = midwatch(base, "push", root + "/global_step_20", "s3:/bucket/run")
    assert code == 2 and "s3://BUCKET/RUN" in shown and not os.path.exists(base + "/s3:"), (code, shown)
    code, shown = midwatch(base, "push", root + "/latest", base + "/share/run")
    assert code == 0 and "step 20" in shown, (code, shown)


def what_may_not_be_read_is_not_called_missing(base):
    if os.geteuid() != 0:  # who is not root sees it as it is
        refused = []
    else:
        refused = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    os.chmod(base, 0o755)
    root = copied(base, "verl")
    os.chmod(root + "/latest_checkpointed_iteration.txt", 0)
    done = subprocess.run([*refused, PROGRAM, "checkpoint", "verify", root, "--home", "/nonexistent"],
                          capture_output=True, text=True, timeout=60, check=False)
    shown = " ".join(done.stdout.split())
    assert done.returncode == 0 and "latest_checkpointed_iteration.txt may not be read here" in shown, (done.returncode, shown)
    assert "is not beside it" not in shown, shown
    os.chmod(root + "/global_step_20/actor", 0)
    done = subprocess.run([*refused, PROGRAM, "checkpoint", "verify", "--json", root + "/global_step_20", "--home", "/nonexistent"],
                          capture_output=True, timeout=60, check=False)
    os.chmod(root + "/global_step_20/actor", 0o755)
    answer = json.loads(done.stdout)["checkpoints"][0]
    assert done.returncode == 5 and answer["state"] == "unknown", (done.returncode, answer)
    assert any("Permission denied" in note for note in answer["notes"]), answer
    os.chmod(root + "/global_step_20/actor/optim_world_size_2_rank_1.pt", 0)
    done = subprocess.run([*refused, PROGRAM, "checkpoint", "verify", "--deep", "--json", root + "/global_step_20", "--home", "/nonexistent"],
                          capture_output=True, timeout=60, check=False)
    answer = json.loads(done.stdout)["checkpoints"][0]
    assert done.returncode == 5 and answer["state"] == "unknown" and answer["resumable"] == "unknown", (done.returncode, answer)
    assert [(one["path"], one["what"]) for one in answer["problems"]] == [
        ("actor/optim_world_size_2_rank_1.pt", "it cannot be opened (Permission denied)")], answer


def all_folders_of_a_step_are_named(base):
    """A run that saves weights beside its trainer's state resumes from both; what another run has is not its own."""
    root = copied(base, "verl")
    os.makedirs(base + "/out/other")
    os.rename(root, base + "/out/checkpoints")
    newest = base + "/out/checkpoints/global_step_20"
    shutil.copytree(base + "/out/checkpoints/global_step_10", base + "/out/weights/global_step_10")
    shutil.copytree(base + "/out/checkpoints/global_step_10", base + "/out/other/global_step_10")
    os.unlink(newest + "/actor/model_world_size_2_rank_1.pt")
    age(base + "/out")
    code, answer = verified(base, newest)
    assert code == 10 and answer["resume_from"] == base + "/out/checkpoints/global_step_10", answer
    assert answer["resume_with"] == [base + "/out/weights/global_step_10"], answer
    assert "together with" in words_of(base, "verify", newest)[1]
    os.unlink(base + "/out/weights/global_step_10/actor/model_world_size_2_rank_1.pt")
    age(base + "/out")
    assert verified(base, newest)[1]["resume_from"] is None  # half of what it needs


def nothing_insane_is_offered(base):
    """Whole by its structure, and known to be full of NaN: not what to go back to."""
    root = copied(base, "trl")
    shutil.copytree(root + "/checkpoint-10", root + "/checkpoint-5")
    for step in (10, 20):
        with open(f"{root}/checkpoint-{step}/model.safetensors", "r+b") as file:
            file.seek(-64, 2)
            file.write(b"\xff" * 64)
    state = json.loads(pathlib.Path(root + "/checkpoint-5/trainer_state.json").read_text(encoding="utf-8"))
    pathlib.Path(root + "/checkpoint-5/trainer_state.json").write_text(json.dumps({**state, "global_step": 5}), encoding="utf-8")
    age(root)
    code, answer = verified(base, root, "--deep")
    states = {one["step"]: one["state"] for one in answer["checkpoints"]}
    assert code == 10 and states[10] == states[20] == "suspect", states
    assert answer["resume_from_step"] == (5 if states[5] == "whole" else None), answer
    assert verified(base, root + "/checkpoint-20", "--deep")[1]["resume_from_step"] == answer["resume_from_step"]


def one_that_is_being_written_is_not_broken(base):
    """What was written a moment ago may still become whole."""
    root = copied(base, "prime-rl")
    one = root + "/checkpoints/step_20"
    os.unlink(one + "/trainer/.metadata")
    assert state_of(base, one) == (10, "partial")
    os.utime(one + "/trainer/__0_0.distcp")
    assert state_of(base, one) == (5, "writing")


def bits_that_rot_are_found(base):
    """A flipped bit: by the archive's own checksum; where the format has none, by what an earlier --deep recorded."""
    root = copied(base, "trl")
    one = root + "/checkpoint-20"
    assert state_of(base, one, "--deep") == (0, "whole")
    for name, place, structural, deep in (("model.safetensors", -20, "whole", "corrupt"), ("optimizer.pt", 900, "whole", "corrupt")):
        path = f"{one}/{name}"
        with open(path, "r+b") as file:
            file.seek(place, 2 if place < 0 else 0)
            byte = file.read(1)[0]
            file.seek(place, 2 if place < 0 else 0)
            file.write(bytes([byte ^ 1]))
        os.utime(path, (SAVED, SAVED))
        assert state_of(base, one)[1] == structural, name
        code, answer = verified(base, one, "--deep")
        assert code == 10 and answer["checkpoints"][0]["state"] == deep, answer
        assert any(problem["path"] == name for problem in answer["checkpoints"][0]["problems"]), answer
        shutil.copy2(f"{SAMPLES}/trl/checkpoint-20/{name}", path)
        os.utime(path, (SAVED, SAVED))
    assert state_of(base, one, "--deep") == (0, "whole")
    shutil.copy2(f"{SAMPLES}/trl/checkpoint-10/model.safetensors", one + "/model.safetensors")
    os.utime(one + "/model.safetensors", (SAVED + 60, SAVED + 60))
    assert state_of(base, root + "/checkpoint-10", "--deep") == (0, "whole")
    code, answer = verified(base, one, "--deep")
    problems = answer["checkpoints"][0]["problems"]
    assert code == 10 and problems[0]["trouble"] == "mixed-step" and "checkpoint-10" in problems[0]["what"], answer


def hostile_names_and_files(base):
    """Names with escape sequences are shown escaped; pickles are not run; paths out of the tree are refused."""
    one = base + "/step_3"
    os.makedirs(one)
    with open(one + "/\x1b[31mmodel.pt", "wb") as file:
        file.write(b"\x80\x02cos\nsystem\n(S'touch " + base.encode() + b"/ran'\ntR.")
    with open(one + "/model.safetensors.index.json", "w", encoding="utf-8") as file:
        json.dump({"weight_map": {"a": "../../etc/passwd"}}, file)
    age(one)
    code, text = midwatch(base, "verify", one, "--deep")
    assert code == 10 and "\x1b" not in text and "outside of its folder" in " ".join(text.split()), (code, text)
    assert not os.path.exists(base + "/ran")
    assert midwatch(base, "verify", base + "/nowhere")[0] == 3
    assert midwatch(base, "polish")[0] == 2


def broken_ones_are_explained_in_one_command(base):
    """What is wrong, once and in plain words, and what a script may rely on."""
    root = copied(base, "slime")
    os.unlink(root + "/iter_0000020/common.pt")
    age(root)
    shown = words_of(base, "verify", root + "/iter_0000020")[1]
    assert shown.count("common.pt: it is missing") == 1, shown  # whoever calls for it
    root = copied(base, "verl")
    os.truncate(root + "/latest_checkpointed_iteration.txt", 0)
    pointer = pathlib.Path(root + "/latest_checkpointed_iteration.txt")
    for text, wanted, said in (("soon\x1b[31m", 10, 'says "soon\\x1b[31m", which is not there: a resume finds nothing'),
                               ("\0\0\0\0", 10, "holds nothing but zeros: its bytes never reached the disk, and a resume fails on it"),
                               (".", 10, 'says ".", which is no checkpoint beside it: a resume finds nothing'),
                               ("../x", 10, 'says "../x", which is no checkpoint beside it: a resume finds nothing'),
                               ("10", 0, "still names step 10: a resume would take that one, and do 10 steps again"),
                               ("global_step_20", 10, 'says "global_step_20", and its trainer reads a number there: a resume fails on it; write 20 into it'),
                               ("20", 0, None), (None, 0, "is not beside it: verl finds no checkpoint by itself then")):
        pointer.unlink()
        if text is not None:
            pointer.write_text(text, encoding="utf-8")
        for verb in ("verify", "list"):
            code, shown = words_of(base, verb, root)
            assert code == (wanted if verb == "verify" else 0), (text, code, shown)
            assert ("latest_checkpointed_iteration.txt " + said in shown) if said else ("latest_" not in shown), (text, shown)
    fsdp = root + "/global_step_20/actor"
    for part in ("model", "optim", "extra_state"):
        os.unlink(f"{fsdp}/{part}_world_size_2_rank_1.pt")
        os.rename(f"{fsdp}/{part}_world_size_2_rank_0.pt", f"{fsdp}/{part}_world_size_1_rank_0.pt")
    age(root)
    problems = verified(base, root + "/global_step_20")[1]["checkpoints"][0]["problems"]
    assert [(one["trouble"], one["what"]) for one in problems] == [
        ("contradiction", "it says a world size of 2, and the files are of 1")], problems
    root = copied(base, "trl-sharded")
    index = pathlib.Path(root + "/checkpoint-20/model.safetensors.index.json")
    index.write_text(index.read_text(encoding="utf-8").replace('"total_size": 640', '"total_size": 641'), encoding="utf-8")
    age(root)
    code, shown = words_of(base, "verify", root + "/checkpoint-20")
    assert code == 0 and shown.startswith("WHOLE") and "its tensors have 641 bytes, and they have 640" in shown, shown
    code, shown = words_of(base, "verify", root + "/checkpoint-20/optimizer.pt")
    assert code == 4 and "it is the state of an optimizer" in shown, shown
    code, shown = words_of(base, "verify", "/dev/null")
    assert code == 2 and "neither a file nor a folder" in shown, shown


def what_is_not_whole_is_not_pushed(base):
    """Whatever a framework lists as its own must be there, and another framework's format is shipped as it is."""
    root = copied(base, "verl")
    for path in pathlib.Path(root + "/global_step_20").rglob("*.pt"):
        path.unlink()
    age(root)
    code, shown = words_of(base, "push", root + "/global_step_20", base + "/store")
    assert code == 2 and "the checkpoint is broken: there are no weights in it" in shown, (code, shown)
    assert not os.path.exists(base + "/store/latest.json")
    os.makedirs(base + "/jax/step_20/default/d")
    pathlib.Path(base + "/jax/step_20/default/d/0f3a").write_bytes(os.urandom(100_000))
    pathlib.Path(base + "/jax/step_20/_METADATA").write_text("{}", encoding="utf-8")
    age(base + "/jax")
    code, shown = words_of(base, "verify", base + "/jax/step_20")
    assert code == 5 and "0f3a is of a format that midwatch does not read" in shown, (code, shown)
    assert words_of(base, "push", base + "/jax/step_20", base + "/store")[0] == 0
    root = copied(base, "trl")
    weights = pathlib.Path(root + "/checkpoint-20/model.safetensors")
    weights.write_text("version https://git-lfs.github.com/spec/v1\nsize 640\n", encoding="utf-8")
    age(root)
    code, shown = words_of(base, "push", root, base + "/proven")
    assert code == 0 and shown.startswith("step 10:"), (code, shown)
    weights.write_bytes(b"\x91\xe2\x7f" + os.urandom(70_000))  # encrypted, for all that is known
    age(root)
    code, shown = words_of(base, "push", root, base + "/proven")
    assert code == 0 and shown.startswith("step 10:"), (code, shown)
    code, shown = words_of(base, "push", root + "/checkpoint-20", base + "/proven")
    assert code == 0 and "nothing proves that it is whole" in shown and "latest stays at step 10" in shown, (code, shown)
    code, shown = words_of(base, "pull", base + "/proven", base + "/received")
    assert code == 0 and os.path.getsize(base + "/received/model.safetensors") < 10_000, (code, shown)
    code, shown = words_of(base, "push", root + "/checkpoint-20", base + "/proven", "--allow-suspect")
    assert code == 0 and "latest names it now" in shown, (code, shown)


def what_was_mended_is_no_damage(base):
    """A chat template is a person's to mend; weights are not."""
    root = copied(base, "trl") + "/checkpoint-20"
    age(root)
    midwatch(base, "verify", root, "--deep")
    pathlib.Path(root + "/tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}', encoding="utf-8")
    os.utime(root + "/tokenizer_config.json", (SAVED + 100, SAVED + 100))
    shown = words_of(base, "verify", os.path.dirname(root))[1]
    assert "step 20 tokenizer_config.json: it is not what it was at" in shown, shown  # in a table, too
    for said in (True, False):  # then it is recorded
        code, shown = words_of(base, "verify", root, "--deep")
        assert code == 0 and shown.startswith("WHOLE") and ("no weights depend on it" in shown) == said, (code, shown)
    assert words_of(base, "push", root, base + "/store")[0] == 0
    with open(root + "/model.safetensors", "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    os.utime(root + "/model.safetensors", (SAVED, SAVED))
    code, shown = words_of(base, "verify", root, "--deep")
    assert code == 10 and shown.startswith("CORRUPT"), (code, shown)


def a_disk_that_is_mounted_is_no_name(base):
    """What is received lies beside its name first: on another disk, from where it cannot be renamed."""
    root = copied(base, "verl")
    assert words_of(base, "push", root + "/global_step_20", base + "/store")[0] == 0
    os.mkdir(base + "/small")
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", base + "/small"], check=False).returncode != 0:
        return print("a_disk_that_is_mounted_is_no_name: no disk may be mounted here")
    try:
        code, shown = words_of(base, "pull", base + "/store", base + "/small")
        assert code == 2 and "is where a disk is mounted" in shown and "/small/NAME" in shown, (code, shown)
        code, shown = words_of(base, "pull", base + "/store", base + "/small/back")
        assert code != 0 and "are free" in shown and not os.path.exists(base + "/small/back"), (code, shown)
    finally:
        subprocess.run(["umount", base + "/small"], check=True)
    assert not [name for name in os.listdir(base) if "partial" in name], os.listdir(base)
    return None


def differences(base):
    """The tensors of two checkpoints, whatever files they lie in."""
    root = copied(base, "trl-sharded")
    code, text = midwatch(base, "diff", "--json", root + "/checkpoint-10", root + "/checkpoint-20")
    answer = json.loads(text)
    assert code == 0 and answer["changed"] >= 3 and answer["only_before"] == answer["only_after"] == answer["reshaped"] == 0, answer
    code, text = midwatch(base, "diff", "--json", root + "/checkpoint-10", copied(base, "trl") + "/checkpoint-10")
    answer = json.loads(text)
    assert code == 0 and answer["changed"] == 0 and answer["same"] >= 3, answer  # one file, or three: the same tensors
    code, text = midwatch(base, "diff", root + "/checkpoint-10", root + "/checkpoint-20")
    assert code == 0 and "tensors: " in text and "changed by" in text, text
    assert midwatch(base, "diff", root)[0] == 2


def files_that_were_exchanged_are_found(base):
    """mv a x; mv b a; mv x b: both checkpoints are suspect. A folder of zarr that is gone makes its own one partial."""
    root = copied(base, "trl")
    first, second = (f"{root}/checkpoint-{step}" for step in (10, 20))
    for step in (10, 20):
        for place in pathlib.Path(f"{root}/checkpoint-{step}").rglob("*"):
            os.utime(place, (SAVED + 180 * step, SAVED + 180 * step))
    assert verified(base, root)[0] == 0
    for name in ("model.safetensors", "optimizer.pt", "rng_state.pth"):
        one, other, aside = f"{first}/{name}", f"{second}/{name}", f"{base}/aside"
        for move in ((one, aside), (other, one), (aside, other)):
            os.rename(*move)
        for path in (first, second):
            assert state_of(base, path) == (10, "suspect"), (name, path)
        code, text = midwatch(base, "verify", second)
        assert code == 10 and name in text and "seem to have been exchanged" in " ".join(text.split()), text
        for move in ((one, aside), (other, one), (aside, other)):
            os.rename(*move)
        assert verified(base, root)[0] == 0, name
    zarr = copied(base, "megatron-zarr")
    shutil.rmtree(zarr + "/iter_0000020/model.embed.weight")
    age(zarr)
    assert state_of(base, zarr + "/iter_0000020") == (10, "partial")


def those_of_a_run(base):
    """Where a run saves is known from its journal."""
    run = Run(base, training(base, steps=15, pace=0.01), "--name", "one", "--no-host")
    assert run.end() == 0, run.err
    age(base + "/checkpoints")
    code, text = midwatch(base, "list", "--json", "--run", "one")
    answer = json.loads(text)
    assert code == 0 and answer["run"] == "one", answer
    assert [(one["step"], one["state"]) for one in answer["checkpoints"]] == [(5, "whole"), (10, "whole"), (15, "whole")], answer
    code, text = midwatch(base, "verify", "--deep")
    assert code == 0 and text.count("whole") == 3, text


def nothing_is_changed(base):
    """Neither a byte nor a time of the checkpoint; what is remembered lies in the state folder."""
    root = copied(base, "skyrl")

    def picture():
        return {str(place): (place.stat().st_mtime_ns, place.stat().st_size) for place in pathlib.Path(root).rglob("*")}
    before = picture()
    assert midwatch(base, "verify", "--deep", root)[0] == 0
    assert picture() == before
    kept = os.listdir(base + "/home/checkpoints")
    assert len(kept) == 2 and all(name.endswith(".json") for name in kept), kept
    assert os.stat(f"{base}/home/checkpoints/{kept[0]}").st_mode & 0o077 == 0


def main():
    for case in (whole_trees_are_whole, a_broken_one_is_explained, an_older_broken_one_stops_no_resume,
                 a_pointer_is_looked_at_beside_several,
                 what_to_do_is_said_in_the_trainers_words, each_framework_has_its_own_way_back,
                 a_save_that_never_got_its_name_hides_none, areal_resumes_from_its_slot,
                 actor_and_critic_resume_together, odd_places_are_named_for_what_they_are,
                 what_may_not_be_read_is_not_called_missing, all_folders_of_a_step_are_named, nothing_insane_is_offered,
                 one_that_is_being_written_is_not_broken, bits_that_rot_are_found,
                 hostile_names_and_files, one_file_for_each_step, broken_ones_are_explained_in_one_command,
                 what_is_not_whole_is_not_pushed, what_was_mended_is_no_damage, a_disk_that_is_mounted_is_no_name, differences,
                 files_that_were_exchanged_are_found, those_of_a_run, nothing_is_changed):
        began = time.time()
        with Scratch() as base:
            case(base)
        print(f"{case.__name__}: ok, {time.time() - began:.1f} s")


main()
sys.exit(0)
