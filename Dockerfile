# The TriArena server.
#
#     docker build -t triarena .
#     docker run -p 127.0.0.1:13055:13055 -v triarena:/data triarena
#
# Matches and the administrator's secret live in the volume /data.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /src
COPY requirements requirements
# What runs is pinned by hash; pip itself stays out of the server's environment.
RUN python3 -m venv --without-pip /opt/triarena \
 && python3 -m pip --python /opt/triarena/bin/python install --no-cache-dir --no-compile \
        --require-hashes -r requirements/server.txt \
 && python3 -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --no-compile --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY games games
COPY protocol protocol
COPY server server
COPY clients clients
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /tmp/wheels . \
 && python3 -m pip --python /opt/triarena/bin/python install --no-deps --no-index /tmp/wheels/*.whl \
 && python3 -m pip --python /opt/triarena/bin/python check

FROM ${BASE}
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin triarena \
 && install --directory --owner=triarena --group=triarena /data
COPY --from=build /opt/triarena /opt/triarena
ENV PATH=/opt/triarena/bin:$PATH XDG_DATA_HOME=/data PYTHONUNBUFFERED=1
USER triarena
WORKDIR /data
VOLUME /data
EXPOSE 13055
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["triarena", "health"]
CMD ["triarena", "serve", "--host", "0.0.0.0"]
