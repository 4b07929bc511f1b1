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
# bullmq and ioredis are what a fleet needs beside the package, in the versions that it was tested with. None of their
# install scripts is needed.
RUN npm install --global --prefix /installed --ignore-scripts --no-fund --no-audit /packed/*.tgz \
  $(node -p "['bullmq', 'ioredis'].map(name => name + '@' + require('./package-lock.json').packages['node_modules/' + name].version).join(' ')")

FROM $NODE
COPY --from=build /installed/ /usr/local/
# It writes to /data alone, so the root file system may be read-only.
USER node
WORKDIR /data
CMD ["bulk-enrich", "--help"]
