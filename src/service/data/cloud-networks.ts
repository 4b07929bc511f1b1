import type {ListedNetwork} from './network-flags.ts';

/** Why a network of servers is no place for a person's browser. */
const reasons = {
  cloud: 'rents out computing by the hour, on its own network',
  cdn: 'delivers content and relays requests from its own servers',
};

/** The clouds and content networks among the hosting networks. */
export const cloudNetworks: readonly ListedNetwork[] = [
  {
    operator: 'Amazon Web Services',
    asns: [16509, 14618, 8987],
    reason: reasons.cloud,
    source: 'aws.amazon.com; ranges at ip-ranges.amazonaws.com/ip-ranges.json',
  },
  {
    operator: "Google Cloud and Google's own servers",
    asns: [15169, 396982, 19527, 36384, 36385, 43515, 214609, 214611, 139070, 139190],
    reason: reasons.cloud,
    source: 'cloud.google.com; ranges at gstatic.com/ipranges/cloud.json and goog.json',
  },
  {
    operator: 'Microsoft Azure and Microsoft 365',
    asns: [8075, 8068, 8069, 8070, 12076, 200517],
    reason: reasons.cloud,
    source: 'azure.microsoft.com; service tags in the Microsoft download centre',
  },
  {
    operator: 'Oracle Cloud',
    asns: [31898, 54253],
    reason: reasons.cloud,
    source: 'oracle.com/cloud; docs.oracle.com public_ip_ranges.json',
  },
  {operator: 'IBM Cloud (SoftLayer)', asns: [36351], reason: reasons.cloud, source: 'ibm.com/cloud'},
  {
    operator: 'Alibaba Cloud',
    asns: [37963, 45102, 134963],
    reason: reasons.cloud,
    source: 'alibabacloud.com',
  },
  {
    operator: 'Tencent Cloud',
    asns: [45090, 132203, 133478],
    reason: reasons.cloud,
    source: 'tencentcloud.com',
  },
  {operator: 'Huawei Cloud', asns: [55990, 136907], reason: reasons.cloud, source: 'huaweicloud.com'},
  {operator: 'Baidu AI Cloud', asns: [38365, 55967], reason: reasons.cloud, source: 'cloud.baidu.com'},
  {
    operator: 'Volcano Engine and BytePlus (ByteDance)',
    asns: [137718, 150436],
    reason: reasons.cloud,
    source: 'volcengine.com, byteplus.com',
  },
  {operator: 'UCloud', asns: [135377, 59077], reason: reasons.cloud, source: 'ucloud-global.com'},
  {operator: 'Kingsoft Cloud', asns: [59019, 137280], reason: reasons.cloud, source: 'ksyun.com'},
  {operator: 'Naver Cloud', asns: [23576, 135354], reason: reasons.cloud, source: 'ncloud.com'},
  {operator: 'Yandex Cloud', asns: [200350, 210656, 215013], reason: reasons.cloud, source: 'yandex.cloud'},
  {operator: 'Exoscale (Akenes)', asns: [61098], reason: reasons.cloud, source: 'exoscale.com'},
  {operator: 'UpCloud', asns: [202053, 25697], reason: reasons.cloud, source: 'upcloud.com'},
  {operator: 'Binero', asns: [35041], reason: reasons.cloud, source: 'binero.com'},
  {
    operator: 'Kamatera',
    asns: [36007, 210329, 215728, 41436, 204548],
    reason: reasons.cloud,
    source: 'kamatera.com',
  },
  {operator: 'Joyent', asns: [26464], reason: reasons.cloud, source: 'joyent.com'},
  {operator: 'Fly.io', asns: [40509], reason: reasons.cloud, source: 'fly.io'},
  {operator: 'Render', asns: [397273], reason: reasons.cloud, source: 'render.com'},
  {
    operator: "Salesforce (with Heroku's own range)",
    asns: [14340],
    reason: reasons.cloud,
    source: 'salesforce.com',
  },
  {
    operator: 'Cloudflare',
    asns: [13335, 209242, 14789, 132892, 202623],
    reason: reasons.cdn,
    source: 'cloudflare.com/ips; users of WARP leave through it as well',
  },
  {operator: 'Fastly', asns: [54113], reason: reasons.cdn, source: 'api.fastly.com/public-ip-list'},
  {operator: 'Akamai', asns: [20940, 16625, 36183, 35994, 32787], reason: reasons.cdn, source: 'akamai.com'},
  {operator: 'Imperva Incapsula', asns: [19551], reason: reasons.cdn, source: 'imperva.com'},
  {operator: 'G-Core', asns: [199524, 202422], reason: reasons.cdn, source: 'gcore.com'},
  {operator: 'E2E Networks', asns: [132420], reason: reasons.cloud, source: 'e2enetworks.com'},
];
