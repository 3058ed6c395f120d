# Shared by scripts/build, scripts/test, scripts/demo and .ci/run; sourced, not run.
# Finds Pythons, installs missing Debian packages, makes environments, builds, installs. All that is made lies in
# .venv/X.Y and build/ of the checkout. Needs: bash. Promises: what is already there is not set up again.

SUPPORTED_PYTHONS="3.12 3.13"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# ---- Pythons ------------------------------------------------------------------------------------------------------

# Prints "X.Y PATH" if the command is a CPython that hotloop supports.
probe_python() {
  # `|| true` and the empty stdin: a pyenv shim without a selected version fails, and nothing may read CI's stdin.
  { "$1" -I -c '
import sys
if sys.implementation.name == "cpython":
    base = getattr(sys, "_base_executable", None) or sys.executable
    print("%d.%d" % sys.version_info[:2], base)
' </dev/null 2>/dev/null || true; } | while read -r version path; do
    case " $SUPPORTED_PYTHONS " in *" $version "*) echo "$version $path" ;; esac
  done
}

# Every supported Python, one "X.Y PATH" a line, oldest first: those on PATH, then those of pyenv.
list_pythons() {
  local version candidate
  for version in $SUPPORTED_PYTHONS; do
    for candidate in "python$version" python3 python \
      $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python 2>/dev/null | sort -Vr); do
      command -v "$candidate" >/dev/null 2>&1 || continue
      found=$(probe_python "$candidate")
      if [ "${found%% *}" = "$version" ]; then
        echo "$found"
        break
      fi
    done
  done
}

no_python() {
  die "no CPython 3.12 or 3.13 on PATH or in pyenv; install one, e.g.: $(
    . /etc/os-release 2>/dev/null
    case "${VERSION_ID:-}" in
      13 | 24.04) echo "apt-get install python3 python3-venv python3-dev" ;;
      *) echo "curl https://pyenv.run | bash && ~/.pyenv/bin/pyenv install 3.13" ;;
    esac)"
}

# Sets PYTHONS to the chosen ones: arguments X.Y, else HOTLOOP_PYTHONS, else all that are found.
choose_pythons() {
  local wanted="$*" all version line
  [ -n "$wanted" ] || wanted=${HOTLOOP_PYTHONS:-}
  wanted=${wanted//,/ }
  all=$(list_pythons)
  PYTHONS=()
  if [ -z "$wanted" ]; then
    [ -n "$all" ] || no_python
    mapfile -t PYTHONS <<<"$all"
    return
  fi
  for version in $wanted; do
    if [[ "$version" == */* ]]; then
      line=$(probe_python "$version")
    else
      line=$(grep "^$version " <<<"$all" || true)
    fi
    [ -n "$line" ] || die "no supported Python $version found (supported: $SUPPORTED_PYTHONS; found: $(cut -d' ' -f1 <<<"$all" | xargs))"
    PYTHONS+=("$line")
  done
}

# ---- Debian packages ----------------------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@" </dev/null
  elif command -v sudo >/dev/null; then
    sudo "$@" </dev/null
  else
    die "not root and no sudo; run as root: $*"
  fi
}

install_packages() {
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "missing, and there is no apt-get to install them: $*"
  say "installing Debian packages: $*"
  as_root apt-get update -q >&2 || say "apt-get update failed; going on with the lists that are there"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2 \
    || die "apt-get could not install: $*"
}

# What a build needs, and with `tests` what the unit tests need.
need_build_packages() {
  local missing=()
  command -v g++ >/dev/null || [ -n "${CXX:-}" ] || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  command -v ccache >/dev/null || missing+=(ccache)  # the extensions for two Pythons share most objects
  [ -e /usr/include/asmjit/asmjit.h ] || [ -n "${HOTLOOP_ASMJIT:-}" ] || missing+=(libasmjit-dev)
  [ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
  if compgen -G "$ROOT/src/parallel/*.cpp" >/dev/null && [ ! -e /usr/include/tbb/version.h ]; then missing+=(libtbb-dev); fi
  if [ "${1:-}" = tests ] && [ ! -e /usr/include/gtest/gtest.h ]; then missing+=(libgtest-dev); fi
  install_packages "${missing[@]}"
}

# A distribution's python comes without venv and headers; pyenv's has both.
need_python_packages() {
  local version=$1 python=$2 missing=()
  "$python" -I -c 'import ensurepip' 2>/dev/null </dev/null || missing+=("python$version-venv")
  "$python" -I -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null </dev/null \
    || missing+=("python$version-dev")
  install_packages "${missing[@]}"
}

# ---- environments and builds --------------------------------------------------------------------------------------

# ensure_venv X.Y PYTHON [more pip requirements]: makes .venv/X.Y once and installs what is not in it yet.
ensure_venv() {
  local version=$1 python=$2 venv="$ROOT/.venv/$1" requirement missing=()
  shift 2
  if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c '' 2>/dev/null </dev/null; then
    need_python_packages "$version" "$python"
    say "Python $version ($python): making .venv/$version"
    "$python" -m venv --clear "$venv" || die "$python -m venv $venv failed"
  fi
  for requirement in 'scikit-build-core>=0.10' 'numpy>=2.0' 'pytest>=8' "$@"; do
    grep -qxF "$requirement" "$venv/.installed" 2>/dev/null || missing+=("$requirement")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Python $version: installing ${missing[*]}"
  "$venv/bin/python" -m pip install --disable-pip-version-check --quiet "${missing[@]}" </dev/null >&2 \
    || die "pip could not install ${missing[*]} into .venv/$version"
  printf '%s\n' "${missing[@]}" >>"$venv/.installed"
}

jobs_option() { echo "${HOTLOOP_JOBS:-$(nproc)}"; }

# A missing symbol shows only when the module is loaded.
import_check() {
  (cd / && "$ROOT/.venv/$1/bin/python" -c 'import hotloop' </dev/null >&2) || die "Python $1: hotloop was built, but cannot be imported"
}

# build_module X.Y: compiles into build/cpXY-release and installs into .venv/X.Y. The first time, and when the project's
# metadata changed, pip does it as for a user; later only what changed is compiled and copied over the installed files.
build_module() {
  local version=$1 venv="$ROOT/.venv/$1" build="$ROOT/build/cp${1//./}-release"
  local stamp="$build/.installed" installed="$venv/lib/python$1/site-packages"
  if [ -e "$stamp" ] && [ -e "$build/build.ninja" ] && [ ! "$ROOT/pyproject.toml" -nt "$stamp" ] \
    && [ -e "$installed/hotloop/__init__.py" ]; then
    cmake --build "$build" --target _hotloop -j "$(jobs_option)" </dev/null >&2 || die "the build for Python $version failed"
    if [ -n "$(find "$build"/_hotloop*.so "$ROOT/pymodule/hotloop" -type f -newer "$stamp" ! -name '*.pyc')" ]; then
      say "Python $version: updating hotloop in .venv/$version"
      touch "$stamp.new"
      # A running program may have the old module mapped: replace the file, never write into it.
      rm -f "$installed"/hotloop/_hotloop*.so
      cp "$build"/_hotloop*.so "$ROOT"/pymodule/hotloop/*.py* "$ROOT/pymodule/hotloop/py.typed" "$installed/hotloop/" \
        || die "could not copy into $installed/hotloop"
      import_check "$version"
      mv "$stamp.new" "$stamp"
    fi
    return 0
  fi
  say "Python $version: building in ${build#"$ROOT"/} and installing into .venv/$version"
  local options=(-C "build-dir=$build")
  [ -z "${HOTLOOP_WERROR:-}" ] || options+=(-C cmake.define.HOTLOOP_WERROR=ON)
  [ -z "${HOTLOOP_ASMJIT:-}" ] || options+=(-C "cmake.define.HOTLOOP_ASMJIT=$HOTLOOP_ASMJIT")
  mkdir -p "$build"
  touch "$stamp.new"
  # The environment's own build tools are used, so that nothing is downloaded again.
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs_option) "$venv/bin/python" -m pip install --disable-pip-version-check \
    --no-build-isolation --no-deps --force-reinstall -v "${options[@]}" "$ROOT" </dev/null 2>&1 | tee "$build/install.log" \
    | grep --line-buffered -E '^ *(\[[0-9]+/[0-9]+\]|.*(error|warning|Error|FAILED)|\*\*\*)' >&2
  [ "${PIPESTATUS[0]}" = 0 ] || die "the build for Python $version failed; all of its output is in ${build#"$ROOT"/}/install.log"
  import_check "$version"
  mv "$stamp.new" "$stamp"
}

# build_unit [sanitizers]: the GoogleTest binary UNIT, without Python and with assertions.
build_unit() {
  local build="$ROOT/build/unit${1:+-sanitize}" options=()
  UNIT="$build/hotloop_unit"
  if [ -n "${1:-}" ]; then
    options+=("-DHOTLOOP_SANITIZE=$1")
  elif [ -n "${HOTLOOP_WERROR:-}" ]; then
    options+=(-DHOTLOOP_WERROR=ON)  # under sanitizers g++ warns of what cannot happen
  fi
  if [ ! -e "$build/build.ninja" ]; then
    say "unit tests: configuring in ${build#"$ROOT"/}"
    cmake -S "$ROOT" --preset core -B "$build" ${HOTLOOP_ASMJIT:+-DHOTLOOP_ASMJIT="$HOTLOOP_ASMJIT"} "${options[@]}" </dev/null >&2 \
      || die "CMake failed for the unit tests"
  fi
  cmake --build "$build" --target hotloop_unit -j "$(jobs_option)" </dev/null >&2 || die "the build of the unit tests failed"
}
