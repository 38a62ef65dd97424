# One image for gateway, control worker and gate worker; the command says which.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs && npm pack --ignore-scripts --pack-destination /tmp

FROM node:24-bookworm-slim
# The control worker and the gateway run git on the control plane's own bare repositories.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/portcullis-*.tgz /tmp/portcullis.tgz
RUN npm install --global --omit=dev --no-audit --no-fund /tmp/portcullis.tgz && rm /tmp/portcullis.tgz
# A named volume takes the owner of the directory it is first mounted on.
RUN install -d -o node -g node -m 0700 /var/lib/portcullis /var/lib/portcullis/repositories \
      /var/lib/portcullis/incoming /keys /keys/all /keys/control /keys/gate /keys/gateway /keys/egress /keys/operator \
  && install -d -o node -g node -m 0755 /keys/store
USER node
ENV PORTCULLIS_STATE_DIR=/var/lib/portcullis NODE_ENV=production
ENTRYPOINT ["portcullis"]
CMD ["--help"]
