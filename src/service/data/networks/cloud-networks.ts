import {type ListedNetwork, listed} from './listed-network.ts';

/** Networks by why they are no place for a person's browser. */
const cloud = listed('rents out computing by the hour, on its own network');
const cdn = listed('delivers content and relays requests from its own servers');

/** The clouds and content networks among the hosting networks. */
export const cloudNetworks: readonly ListedNetwork[] = [
  cloud(
    'Amazon Web Services',
    [16509, 14618, 8987],
    'aws.amazon.com; ranges at ip-ranges.amazonaws.com/ip-ranges.json',
  ),
  cloud(
    "Google Cloud and Google's own servers",
    [15169, 396982, 19527, 36384, 36385, 43515, 214609, 214611, 139070, 139190],
    'cloud.google.com; ranges at gstatic.com/ipranges/cloud.json and goog.json',
  ),
  cloud(
    'Microsoft Azure and Microsoft 365',
    [8075, 8068, 8069, 8070, 12076, 200517],
    'azure.microsoft.com; service tags in the Microsoft download centre',
  ),
  cloud('Oracle Cloud', [31898, 54253], 'oracle.com/cloud; docs.oracle.com public_ip_ranges.json'),
  cloud('IBM Cloud (SoftLayer)', [36351], 'ibm.com/cloud'),
  cloud('Alibaba Cloud', [37963, 45102, 134963], 'alibabacloud.com'),
  cloud('Tencent Cloud', [45090, 132203, 133478], 'tencentcloud.com'),
  cloud('Huawei Cloud', [55990, 136907], 'huaweicloud.com'),
  cloud('Baidu AI Cloud', [38365, 55967], 'cloud.baidu.com'),
  cloud('Volcano Engine and BytePlus (ByteDance)', [137718, 150436], 'volcengine.com, byteplus.com'),
  cloud('UCloud', [135377, 59077], 'ucloud-global.com'),
  cloud('Kingsoft Cloud', [59019, 137280], 'ksyun.com'),
  cloud('Naver Cloud', [23576, 135354], 'ncloud.com'),
  cloud('Yandex Cloud', [200350, 210656, 215013], 'yandex.cloud'),
  cloud('Exoscale (Akenes)', [61098], 'exoscale.com'),
  cloud('UpCloud', [202053, 25697], 'upcloud.com'),
  cloud('Binero', [35041], 'binero.com'),
  cloud('Kamatera', [36007, 210329, 215728, 41436, 204548], 'kamatera.com'),
  cloud('Joyent', [26464], 'joyent.com'),
  cloud('Fly.io', [40509], 'fly.io'),
  cloud('Render', [397273], 'render.com'),
  cloud("Salesforce (with Heroku's own range)", [14340], 'salesforce.com'),
  cdn(
    'Cloudflare',
    [13335, 209242, 14789, 132892, 202623],
    'cloudflare.com/ips; users of WARP leave through it as well',
  ),
  cdn('Fastly', [54113], 'api.fastly.com/public-ip-list'),
  cdn('Akamai', [20940, 16625, 36183, 35994, 32787], 'akamai.com'),
  cdn('Imperva Incapsula', [19551], 'imperva.com'),
  cdn('G-Core', [199524, 202422], 'gcore.com'),
  cloud('E2E Networks', [132420], 'e2enetworks.com'),
];
