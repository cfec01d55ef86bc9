# lpsched as a command, in a small image. Build it, and run it on files of the current folder:
#
#   docker build -t lpsched .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" lpsched solve instances/tiny.yaml --report page.html
#   docker run --rm -e LPSCHED_TOKEN -p 8765:8765 -v "$PWD:/data" lpsched serve my.yaml --host 0.0.0.0
#
# It has pages, figures, simulations and the server; --build-arg EXTRAS=all adds all other parts (about 700 MB more).

FROM python:3.12.12-slim-bookworm AS build
ARG EXTRAS=report,serve,simulate
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY lpsched lpsched
RUN python -m venv /opt/lpsched
RUN /opt/lpsched/bin/python -m pip install --no-cache-dir ".[$EXTRAS]"

FROM python:3.12.12-slim-bookworm
COPY --from=build /opt/lpsched /opt/lpsched
# Matplotlib and Numba keep files in HOME, which any user can write to.
ENV PATH=/opt/lpsched/bin:$PATH HOME=/tmp
WORKDIR /data
USER 1000:1000
ENTRYPOINT ["lpsched"]
