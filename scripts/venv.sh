# Sourced by the other scripts: finds a Python, makes .venv and installs lpsched into it, once.
# POSIX shell. Sets $root (the checkout) and $venv (by default .venv) and defines ensure_venv.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
venv=$root/.venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1

say() { printf '%s\n' "$*" >&2; }

# Prints the first Python that is new enough: $PYTHON if set, else the usual names.
find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
        [ -z "${PYTHON:-}" ] || break
    done
    found=$("${PYTHON:-python3}" --version 2>&1) || found="no ${PYTHON:-python3}"
    say "lpsched needs Python 3.11 or newer; found: $found."
    say "Install one, or name it: PYTHON=/path/to/python3.12 $0"
    return 1
}

# make_venv DIR: a virtual environment that works here, made anew if it was moved or broken.
make_venv() {
    if [ -f "$1/home" ] && [ "$(cat "$1/home")" = "$1" ] && "$1/bin/python" -c '' 2>/dev/null; then
        return 0
    fi
    python=$(find_python) || return 1
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        say "$python has no venv module; on Debian and Ubuntu: apt-get install python3-venv."
        return 1
    fi
    say "making ${1##*/} with $("$python" --version)"
    rm -rf "$1"
    "$python" -m venv "$1" || return 1
    printf '%s' "$1" >"$1/home"
}

# ensure_venv [EXTRA [VERSIONS]]: $venv with lpsched, editable, and an extra; nothing is done when nothing changed.
# The extra 'test' has the versions of requirements-lock.txt; with VERSIONS 'lowest' the lowest that pyproject.toml
# allows, with 'newest' what pip finds today, each in an environment of its own.
ensure_venv() {
    extra=${1:+"[$1]"} lock=$root/requirements-lock.txt
    [ -f "$lock" ] || lock=
    case ${2:-} in
        '') ;;
        lowest | newest) venv=$root/.venv-$2 ;;
        *)
            say "--versions: got '$2', expected lowest or newest"
            return 2
            ;;
    esac
    make_venv "$venv" || return 1
    sum=$(cat "$root/pyproject.toml" ${lock:+"$lock"} | cksum)
    for stamp in "$venv/installed${1:+-$1}" "$venv/installed-test"; do
        if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then
            return 0
        fi
    done
    say "installing lpsched$extra into ${venv##*/}"
    stamp=$venv/installed${1:+-$1}
    case ${1:-}-${2:-} in
        test-)
            [ -z "$lock" ] || pip_install --require-hashes --requirement "$lock" || return 1
            set -- ${lock:+--no-deps}
            ;;
        *-lowest)
            "$venv/bin/python" "$root/scripts/lowest_versions.py" >"$venv/lowest.txt" || return 1
            set -- --constraint "$venv/lowest.txt"
            ;;
        *) set -- ;;
    esac
    pip_install "$@" --editable "$root$extra" || return 1
    # pip compiles one module after the other: compileall takes all cores, and what it leaves out costs only time
    "$venv/bin/python" -m compileall -q -j 0 "$venv/lib" >/dev/null 2>&1 || true
    printf '%s' "$sum" >"$stamp"
}

pip_install() { "$venv/bin/python" -m pip install --quiet --no-compile "$@" >&2; }
