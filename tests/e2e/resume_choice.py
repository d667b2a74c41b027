"""From which checkpoint midwatch checkpoint says to resume: where the newest lacks what older ones have, where one of two roles has no such
step, and where one broken checkpoint is named alone. What diff says of checkpoints that cannot be compared."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from running import PROGRAM, Run, training
from watching import Scratch

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "checkpoints" / "samples"
SAVED = 1768465800  # 2026-01-15, long ago


def age(folder):
    for place in [folder, *pathlib.Path(folder).rglob("*")]:
        os.utime(place, (SAVED, SAVED))


def midwatch(base, *args):
    environment = {**os.environ, "MIDWATCH_HOME": base + "/home", "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run([PROGRAM, "checkpoint", *args], cwd=base, env=environment, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def verified(base, *args):
    code, text = midwatch(base, "verify", "--json", *args)
    return code, json.loads(text)


def words_of(base, *args):
    code, text = midwatch(base, *args)
    return code, " ".join(text.split())


def the_newest_that_lost_its_optimizer(base):
    root = base + "/trl"
    shutil.copytree(SAMPLES / "trl", root)
    os.unlink(root + "/checkpoint-20/optimizer.pt")
    age(root)
    for asked in (root, root + "/checkpoint-20"):
        code, answer = verified(base, asked)
        newest = answer["checkpoints"][-1]
        assert newest["state"] == "whole" and newest["resumable"] == "no" and newest["unresumable"], newest
        assert code == 10 and answer["resume_from"] == root + "/checkpoint-10" and answer["resume_from_step"] == 10, answer
        for verb in ("verify", "list"):
            said = words_of(base, verb, asked)[1]
            assert "Resume from " in said and "Nothing is wrong" not in said, said
    os.unlink(root + "/checkpoint-10/optimizer.pt")  # nobody saves one here
    age(root)
    code, answer = verified(base, root)
    assert code == 0 and answer["resume_from"] is None and not answer["checkpoints"][-1]["unresumable"], answer


def pushed(base, *args):
    code, text = midwatch(base, "push", "--json", *args)
    return code, json.loads(text) if code == 0 else " ".join(text.split())


def what_cannot_be_resumed_from_is_pushed_only_where_nothing_can_be(base):
    root, store = base + "/trl", base + "/store"
    shutil.copytree(SAMPLES / "trl", root)
    os.unlink(root + "/checkpoint-20/optimizer.pt")
    age(root)
    code, answer = pushed(base, root, store)
    assert code == 0 and answer["step"] == 10 and answer["lacks"] == "" and "step 20 was passed over" in answer["notes"][0], answer
    code, said = pushed(base, root + "/checkpoint-20", store)
    assert code == 2 and "nothing can resume from" in said and f"Push {root}/checkpoint-10, or say --allow-suspect" in said, said
    os.unlink(root + "/checkpoint-10/optimizer.pt")  # nobody saves one here; in the store lies one from before
    age(root)
    code, answer = pushed(base, root, store)
    assert code == 0 and answer["step"] == 20 and answer["lacks"] == "optimizer" and answer["latest"] == "kept", answer
    code, answer = pushed(base, root, store, "--allow-suspect")
    assert code == 0 and answer["latest"] == "moved", answer
    code, answer = pushed(base, root, base + "/another")
    assert code == 0 and answer["latest"] == "moved" and "cannot resume from it: it lacks optimizer" in answer["notes"][0], answer


def what_its_neighbours_show_to_be_broken_is_not_pushed(base):
    root = base + "/verl"
    shutil.copytree(SAMPLES / "verl", root)
    shutil.copytree(root + "/global_step_10/actor", root + "/global_step_10/critic")
    age(root)
    code, said = pushed(base, root + "/global_step_20", base + "/store")
    assert code == 2 and "critic" in said, said


def an_older_one_without_an_optimizer_is_nothing(base):
    root = base + "/trl"
    shutil.copytree(SAMPLES / "trl", root)
    os.unlink(root + "/checkpoint-10/optimizer.pt")
    age(root)
    for asked in (root, root + "/checkpoint-10"):
        code, answer = verified(base, asked)
        assert code == 0 and answer["resume_from"] is None, answer


def roles(base, actor, critic):
    root = base + "/openrlhf"
    shutil.rmtree(root, ignore_errors=True)
    for role, steps in (("_actor", actor), ("_critic", critic)):
        for step in steps:
            shutil.copytree(SAMPLES / "openrlhf" / "_actor" / "global_step20", f"{root}/{role}/global_step{step}")
        pathlib.Path(f"{root}/{role}/latest").write_text(f"global_step{steps[-1]}", encoding="utf-8")
    age(root)
    return root


def a_step_that_one_role_lacks(base):
    """OpenRLHF resumes actor and critic by a pointer each: the newest step of one alone is none to resume from."""
    root = roles(base, (10, 20, 30, 40), (10, 20))
    code, answer = verified(base, root)
    assert code == 10 and answer["resume_from_step"] == 20, answer
    assert {answer["resume_from"], *answer["resume_with"]} == {root + "/_actor/global_step20", root + "/_critic/global_step20"}, answer
    code, said = words_of(base, "verify", root + "/_actor/global_step40")
    assert code == 10 and "_critic has no step 40, its newest is 20" in said and "Resume from " in said, said
    root = roles(base, (10, 20), (10, 20, 30))
    code, said = words_of(base, "list", root)
    assert "_actor has no step 30" in said and "(step 20, " in said, said
    os.utime(root + "/_critic/global_step30/mp_rank_00_model_states.pt")  # the other role may be about to be saved
    assert verified(base, root)[0] == 0


def what_is_no_lack_of_a_role(base):
    root = roles(base, (10, 20, 30), (20, 30))  # older ones of the critic were removed
    assert verified(base, root)[0] == 0
    root = roles(base, (10, 20, 30, 40, 50, 60, 70), (10, 20))  # the run went on without a critic
    code, answer = verified(base, root)
    assert code == 0 and answer["resume_from"] is None, answer


def a_broken_one_that_is_named_alone(base):
    root = base + "/verl"
    shutil.copytree(SAMPLES / "verl", root)
    os.unlink(root + "/global_step_10/actor/model_world_size_2_rank_1.pt")
    age(root)
    code, answer = verified(base, root + "/global_step_10")
    assert code == 10 and answer["resume_from"] == root + "/global_step_20", answer
    shutil.copytree(SAMPLES / "verl", base + "/other")  # another run is no way on
    os.unlink(root + "/global_step_20/actor/model_world_size_2_rank_1.pt")
    age(base + "/other")
    age(root)
    code, answer = verified(base, root, base + "/other")
    assert code == 10 and answer["resume_from"] is None, answer


def two_of_one_step_are_named(base):
    root = base + "/trl"
    shutil.copytree(SAMPLES / "trl", root)
    shutil.copytree(root + "/checkpoint-20", root + "/checkpoint-20.bak")
    age(root)
    text = midwatch(base, "list", root)[1]
    assert text.count("checkpoint-20.bak") == 1 and "checkpoint-20\n" not in text, text


def what_cannot_be_compared_is_said(base):
    root = base + "/verl"
    shutil.copytree(SAMPLES / "verl", root)
    code, said = words_of(base, "diff", root + "/global_step_10", root)
    assert code == 2 and "holds 2 checkpoints and is none itself" in said, (code, said)
    code, said = words_of(base, "diff", root + "/global_step_10", root + "/global_step_20")
    assert code == 0 and "the weights together changed by" in said and "ranks" not in said, said
    shutil.copytree(root + "/global_step_20", base + "/one")
    for file in pathlib.Path(base + "/one").rglob("*_world_size_2_rank_*"):
        file.rename(file.with_name(file.name.replace("size_2", "size_4")))
    said = words_of(base, "diff", root + "/global_step_10", base + "/one")[1]
    assert "the first was saved by 2 ranks, the second by 4" in said, said


def cleanup_names_prune(base):
    """Of a run without [retention] no old checkpoint goes by itself: cleanup says which command removes them, and how much that frees."""
    saves = base + "/checkpoints"
    run = Run(base, training(base, steps=25, pace=0.01), "--name", "one", "--no-host", "--checkpoints", saves)
    assert run.end() == 0, run.err
    done = subprocess.run([PROGRAM, "cleanup", "--run", "one", "--home", base + "/home", "--dry-run"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0 and "midwatch checkpoint prune one --keep-last 2 would remove " in done.stdout, done
    there = sorted(os.listdir(saves))
    done = subprocess.run([PROGRAM, "cleanup", "--run", "one", "--home", base + "/home", "--yes"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert sorted(os.listdir(saves)) == there, done


def main():
    for case in (the_newest_that_lost_its_optimizer, what_cannot_be_resumed_from_is_pushed_only_where_nothing_can_be,
                 what_its_neighbours_show_to_be_broken_is_not_pushed, an_older_one_without_an_optimizer_is_nothing, a_step_that_one_role_lacks,
                 what_is_no_lack_of_a_role, a_broken_one_that_is_named_alone, two_of_one_step_are_named, what_cannot_be_compared_is_said,
                 cleanup_names_prune):
        with Scratch() as base:
            case(base)
        print(f"{case.__name__}: ok")


main()
sys.exit(0)
