# One image for runs, workers and `bulk-enrich serve`. In a clone, with any builder:
#
#   docker build -t registry.example.com/bulk-enrich:1.0.0 .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD":/data registry.example.com/bulk-enrich:1.0.0 bulk-enrich plan list.csv
#
# Node 22.23.2. A newer digest: `docker buildx imagetools inspect node:22-slim`, or docker-library/repo-info on GitHub.
ARG NODE=node:22-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9

FROM $NODE AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN mkdir /packed && npm pack --silent --pack-destination /packed
# All packages are those of the lock file, by their hashes. bullmq and ioredis, which a fleet needs beside the package,
# are packages for development in a clone, and dependencies here.
WORKDIR /installed/lib/node_modules/bulk-enrich
RUN tar -xzf /packed/*.tgz --strip-components=1 && cp /src/package-lock.json /src/.npmrc . && \
  for name in bullmq ioredis; do \
    npm pkg set "dependencies.$name=$(npm pkg get "devDependencies.$name" | tr -d '\"')" && \
    npm pkg delete "devDependencies.$name" "peerDependencies.$name" || exit 1; \
  done && \
  npm ci --omit=dev --ignore-scripts && rm package-lock.json .npmrc && \
  mkdir /installed/bin && ln -s ../lib/node_modules/bulk-enrich/dist/cli/bin.js /installed/bin/bulk-enrich

FROM $NODE
COPY --from=build /installed/ /usr/local/
# It writes to /data alone, so the root file system may be read-only.
USER node
WORKDIR /data
CMD ["bulk-enrich", "--help"]
