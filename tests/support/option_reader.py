"""What the program says to wrong options, from its option tables: one process reads the command lines of all cases."""
import atexit
import json
import os
import subprocess

TOOL = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "option_reader")
reader = None


def refusal(*words):
    """The exit status and the error message of a command line whose options are refused; None for one that is
    run, or if the tool is not built."""
    global reader
    if not os.access(TOOL, os.X_OK):
        return None
    if reader is None:
        reader = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(reader.communicate)
    print(json.dumps([str(word) for word in words]), file=reader.stdin, flush=True)
    answer = json.loads(reader.stdout.readline())
    return (answer["status"], f"voxherd: error: {answer['message']}") if answer["status"] else None
