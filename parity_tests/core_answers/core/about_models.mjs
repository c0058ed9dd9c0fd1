// Parts of the core's half that several rooms about models share.
import { createRequire } from 'node:module';
import path from 'node:path';

// Errors as the SDK raises them: {status, message} of an answer, else any fields of an error.
export async function errorOf(about) {
  const { ApiError } = await sdk();
  if (about.status !== undefined) return new ApiError(about);
  const error = new Error(about.message);
  if (about.name !== undefined) error.name = about.name;
  if (about.code !== undefined) error.code = about.code;
  if (about.cause !== undefined) {
    const { message, ...fields } = about.cause;
    error.cause = Object.assign(new Error(message), fields);
  }
  return error;
}

let core;
function sdk() {
  const require = createRequire(path.join(process.argv[2], 'package.json'));
  core ??= import(require.resolve('@google/genai'));
  return core;
}

// What a config says of an account's access, and the names of models that follow from it.
export function accessOf([launched, custom, preview, flash, lite]) {
  return {
    getGemini31LaunchedSync: () => launched,
    getUseCustomToolModelSync: () => custom,
    getHasAccessToPreviewModel: () => preview,
    hasLatestFlashGAAccess: () => flash,
    hasLatestFlashLiteGAAccess: () => lite,
    getUserTier: () => undefined,
  };
}

export function setNames(models, [, , , flash, lite]) {
  models.setFlashModels(
    'gemini-3-flash-preview',
    flash ? models.LATEST_GEMINI_FLASH_MODEL : models.BASE_GEMINI_FLASH_MODEL,
  );
  models.setFlashLiteModel(
    lite ? models.LATEST_GEMINI_FLASH_LITE_MODEL : models.BASE_GEMINI_FLASH_LITE_MODEL,
  );
}
